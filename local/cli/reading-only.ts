import type { MiddlewareStack } from '@smithy/types';
import {
  autoScaling,
  cloudWatch,
  codeDeploy,
  dynamoDb,
  ec2,
  elasticLoadBalancing,
  s3,
  stepFunctions,
} from '../../functions/core/aws/clients.ts';

/** Commands that change nothing, by the names that AWS gives them. */
const READS = /^((Describe|List|Get|BatchGet|Head)\w+|Scan)Command$/;

/** From here on this process cannot change anything in AWS: every other call is refused before it is sent (D43). */
export function readOnly(): void {
  refuseWrites(autoScaling().middlewareStack);
  refuseWrites(cloudWatch().middlewareStack);
  refuseWrites(codeDeploy().middlewareStack);
  refuseWrites(dynamoDb().middlewareStack);
  refuseWrites(ec2().middlewareStack);
  refuseWrites(elasticLoadBalancing().middlewareStack);
  refuseWrites(s3().middlewareStack);
  refuseWrites(stepFunctions().middlewareStack);
}

function refuseWrites<I extends object, O extends object>(stack: MiddlewareStack<I, O>): void {
  stack.add(
    (next, { commandName = '' }) =>
      args => {
        if (!READS.test(commandName)) throw new Error(`${commandName} is no read: it was not sent.`);
        return next(args);
      },
    { step: 'initialize', name: 'readOnly' },
  );
}
