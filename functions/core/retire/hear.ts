import * as z from 'zod/mini';
import { startExecution } from '../aws/step-functions.ts';
import { rememberCreated } from '../ledger/check-interfaces.ts';
import { executionName } from '../naming.ts';
import { setting } from '../settings.ts';

const named = z.string().check(z.minLength(1));

/** A record of CloudTrail as EventBridge brings it: somebody has deleted or disassociated a check, or AWS has made an interface. */
export const trailEvent = z.object({
  source: z.literal('aws.ec2'),
  detail: z.discriminatedUnion('eventName', [
    z.object({
      eventName: z.enum(['DeleteApplicationStatusCheck', 'DisassociateApplicationStatusCheck']),
      eventID: named,
      requestParameters: z.unknown(),
    }),
    z.object({
      eventName: z.literal('CreateNetworkInterface'),
      responseElements: z.object({
        networkInterface: z.object({
          networkInterfaceId: named,
          subnetId: named,
          groupSet: z.object({ items: z.array(z.object({ groupId: named })) }),
        }),
      }),
    }),
  ]),
});

export interface Heard {
  /** The check whose interfaces are retired now; empty when an interface was made. */
  readonly checkId: string;
  /** The interface that is remembered; empty when a check was deleted or disassociated. */
  readonly interfaceId: string;
}

/** Retires what a check has left, whoever deleted or disassociated it; remembers an interface. */
export async function hearTrail({ detail }: z.output<typeof trailEvent>): Promise<Heard> {
  if (detail.eventName === 'CreateNetworkInterface') {
    const { networkInterfaceId: id, subnetId, groupSet } = detail.responseElements.networkInterface;
    await rememberCreated({ id, subnetId, securityGroupIds: groupSet.items.map(({ groupId }) => groupId) });
    return { checkId: '', interfaceId: id };
  }
  // CloudTrail documents no form of these requests: some of EC2's have their members in one more object.
  const [checkId] = /asc-[0-9a-f]{8,17}/.exec(JSON.stringify(detail.requestParameters)) ?? [];
  if (checkId === undefined) throw new Error(`${detail.eventName} in CloudTrail names no check.`);
  const name = executionName('retire', checkId, detail.eventID);
  await startExecution(setting('RETIRE_CHECK_ARN'), name, { checkId, keepCheck: true });
  return { checkId, interfaceId: '' };
}
