import type { AlarmAction } from '../account/alarm-messages.ts';
import { ServiceError } from '../wire/contract.ts';
import type { AsynchronousInvocations } from './asynchronous-invocations.ts';
import type { DeployedTemplate } from './deployed-template.ts';
import { isInvited } from './invitations.ts';

/** Publishes to a topic of the account as CloudWatch. @throws ServiceError when there is none or it refuses */
export type PublishNotification = (
  topicArn: string,
  notification: { readonly subject: string; readonly message: string },
  sender: { readonly principal: 'cloudwatch.amazonaws.com'; readonly sourceArn: string },
) => void;

/**
 * Carries out what alarms do: functions of the template are invoked asynchronously, everything else is published to.
 *
 * @throws ServiceError by which CloudWatch's history says why an action failed
 */
export function performAlarmActions(
  template: DeployedTemplate,
  asynchronous: AsynchronousInvocations,
  publish: PublishNotification,
): (action: AlarmAction) => void {
  const functions = [...template.functions.values()];
  return ({ arn, alarmArn, event, notification: { subject, message } }) => {
    if (!/^arn:[^:]+:lambda:/.test(arn)) {
      const sender = { principal: 'cloudwatch.amazonaws.com', sourceArn: alarmArn } as const;
      publish(arn, { subject, message: JSON.stringify(message) }, sender);
      return;
    }
    const fn = functions.find(candidate => arn === candidate.arn || arn.startsWith(`${candidate.arn}:`));
    if (!fn) throw new ServiceError('ResourceNotFoundException', `Function not found: ${arn}`, 404);
    // The principal that the guide gives for functions as alarm actions.
    if (!isInvited(fn, arn, { principal: 'lambda.alarms.cloudwatch.amazonaws.com', sourceArn: alarmArn }))
      throw new ServiceError('AccessDeniedException', `CloudWatch is not authorized to invoke ${arn}`, 403);
    asynchronous.accept(fn, arn, JSON.parse(JSON.stringify(event)));
  };
}
