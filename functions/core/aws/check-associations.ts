import {
  type ApplicationStatusCheckAssociationObject,
  DescribeApplicationStatusCheckAssociationsCommand,
} from '@aws-sdk/client-ec2';
import { pages } from './batch.ts';
import { given, send } from './call.ts';
import { ec2 } from './clients.ts';

/** What a check is associated with: a tag, and so whatever carries it, or one instance. */
export type CheckAssociation =
  | { readonly checkId: string; readonly tag: { readonly key: string; readonly value: string } }
  | { readonly checkId: string; readonly instanceId: string };

/** As the results of AssociateApplicationStatusCheck name it: `key=value`, or an instance's id. */
export const associationValue = (one: CheckAssociation): string =>
  'tag' in one ? `${one.tag.key}=${one.tag.value}` : one.instanceId;

const ACTION = 'ec2:DescribeApplicationStatusCheckAssociations';

/** Every association of the account and Region: GUIDE (quotas) 200 of them. */
export async function checkAssociations(): Promise<CheckAssociation[]> {
  const found = await pages(async next => {
    const command = new DescribeApplicationStatusCheckAssociationsCommand({ NextToken: next });
    const answer = await send(ACTION, () => ec2().send(command));
    return { items: answer.Associations, next: answer.NextToken };
  });
  return found.map(toAssociation);
}

function toAssociation(found: ApplicationStatusCheckAssociationObject): CheckAssociation {
  const checkId = given(found.ApplicationStatusCheckId, ACTION, 'ApplicationStatusCheckId');
  const value = given(found.Value, ACTION, 'Value');
  return found.AssociationType === 'tag'
    ? { checkId, tag: { key: given(found.Key, ACTION, 'Key'), value } }
    : { checkId, instanceId: value };
}
