import * as codedeploy from '@aws-sdk/client-codedeploy';
import * as states from '@aws-sdk/client-sfn';
import type { Service } from '../../../local/wire/contract.ts';

type Spoken = Omit<Service, 'operations'>;

/** How Step Functions and CodeDeploy speak: a test adds the operations that it answers. */
export const STEP_FUNCTIONS = {
  name: 'states',
  client: states,
  protocol: { kind: 'json', target: 'AWSStepFunctions', jsonVersion: '1.0' },
} as const satisfies Spoken;

export const CODE_DEPLOY = {
  name: 'codedeploy',
  client: codedeploy,
  protocol: { kind: 'json', target: 'CodeDeploy_20141006', jsonVersion: '1.1' },
} as const satisfies Spoken;
