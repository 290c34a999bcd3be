import { stepFunctionsTier } from "./place.fixture.ts";
import { conformance } from "./suite.fixture.ts";

conformance(stepFunctionsTier);
