// Later versions of Node have a navigator. Where there is none, pg finds out whether it runs at Cloudflare by making a
// Response, for which Node 20 loads fetch, http and zlib: a third of what the start of a thread costs.
if (!("navigator" in globalThis))
  Object.assign(globalThis, { navigator: { userAgent: `Node.js/${process.versions.node}` } });
