import { postgresql } from "./postgresql.fixture.ts";
import { conformance } from "./suite.fixture.ts";

conformance(postgresql);
