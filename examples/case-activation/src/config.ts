// What can be set from outside; the README lists it.
const { env } = process;

export const listenOptions = () => ({
  host: env.HOST || "127.0.0.1",
  port: Number(env.PORT || 8081),
  variable: "PORT",
});
