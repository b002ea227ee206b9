/** List prices in US dollars, for us-east-1 and without free tiers; other Regions differ by a few percent. */

/** Standard workflows. Source: AWS Step Functions pricing, 0.025 USD a thousand. */
export const STATE_TRANSITION = 0.025 / 1000;

/** Arm, first tier. Source: AWS Lambda pricing. */
export const LAMBDA_GB_SECOND = 0.000_013_333_4;

/** Source: AWS Lambda pricing, 0.20 USD a million. */
export const LAMBDA_REQUEST = 0.2 / 1_000_000;
