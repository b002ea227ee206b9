import type { Topics } from '../account/topics.ts';
import type { World } from '../account/world.ts';
import { ServiceError } from '../wire/contract.ts';
import type { PublishNotification } from './alarm-actions.ts';
import type { DeployedTemplate } from './deployed-template.ts';
import { letsIn } from './service-access.ts';

/**
 * Publishes what alarms tell. A topic with a policy of its own has to let CloudWatch in; the policy that SNS gives a topic
 * lets its own account's alarms in.
 */
export function notifyBy(
  world: World,
  topics: Topics,
  { topicPolicies }: DeployedTemplate,
): PublishNotification {
  return (TopicArn, { subject, message }, sender) => {
    const policy = topicPolicies.get(TopicArn);
    const request = { action: 'sns:Publish', resource: TopicArn };
    if (policy && !letsIn(policy, sender, request, world))
      throw new ServiceError(
        'AuthorizationError',
        `${sender.principal} is not authorized to perform: sns:Publish on resource: ${TopicArn}`,
        403,
      );
    topics.publish({ TopicArn, Subject: subject, Message: message });
  };
}
