// The gateway's own errors, for whoever starts it. What its clients are told are AWS's errors; see wire.ts.
import { catalogue } from "tuntas";

export const gatewayErrors = catalogue({
  TUNTAS_PORT_TAKEN: {
    meaning: "Another process listens on the gateway's port.",
    remedy: "End that process, or set TUNTAS_PORT to a free port (0 takes any).",
  },
  TUNTAS_PORT_REFUSED: {
    meaning: "The operating system does not let this process listen on the gateway's address and port.",
    remedy: "Set TUNTAS_PORT to a port above 1023, on an address of this machine.",
  },
});
