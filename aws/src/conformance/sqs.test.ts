import { amazonSqs } from "./sqs.fixture.ts";
import { conformance } from "./suite.fixture.ts";

conformance(amazonSqs);
