import { postgresql } from "./place.fixture.ts";
import { conformance } from "./suite.fixture.ts";

conformance(postgresql);
