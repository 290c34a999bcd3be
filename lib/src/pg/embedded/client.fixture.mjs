// A process that attaches to the data directory it is given, says so in one line of JSON, and stays until it is
// killed or its standard input ends.
const { attachEmbedded } = await import(process.argv[3]);
try {
  const { url, version } = await attachEmbedded({ dataDir: process.argv[2] });
  process.stdout.write(JSON.stringify({ url, version }) + "\n");
} catch (error) {
  process.stdout.write(JSON.stringify({ code: error.code, message: error.message }) + "\n");
  process.exit(1);
}
process.stdin.resume();
