import type { CreateApplicationStatusCheckRequest } from '@aws-sdk/client-ec2';
import type { Account } from '../account/account.ts';
import { ec2Api } from '../account/ec2-service.ts';
import { isList, isObject, type Json, type JsonObject } from '../stack/json.ts';
import { refuseMembers } from '../stack/template-text.ts';
import { ServiceError } from '../wire/contract.ts';
import { ResourceFailed, type ResourceKind } from './resource-kind.ts';

/** The types of AWS's own that a stack here may have. */
export const nativeResources = (account: Account): Readonly<Record<string, ResourceKind>> => ({
  'AWS::EC2::SecurityGroup': securityGroups(account),
  'AWS::EC2::ApplicationStatusCheck': checks(account),
});

const securityGroups = ({ ec2: { network } }: Account): ResourceKind => ({
  async create({ logicalId, properties }, stack) {
    refuseMembers(properties, ['GroupDescription', 'VpcId', 'Tags'], logicalId);
    const tags = {
      ...tagsOf(properties.Tags),
      'aws:cloudformation:stack-id': stack.id,
      'aws:cloudformation:stack-name': stack.name,
      'aws:cloudformation:logical-id': logicalId,
    };
    const { id } = network.addSecurityGroup({ name: `${stack.name}-${logicalId}`, tags });
    return { physicalId: id, attributes: { GroupId: id } };
  },
  async update({ logicalId }) {
    throw new ResourceFailed(`${logicalId}: an update of a security group is not implemented`);
  },
  async remove({ physicalId }) {
    await failing(() => network.deleteSecurityGroup(physicalId));
  },
});

const checks = ({ checks: registry, world }: Account): ResourceKind => {
  const api = ec2Api(registry);
  const { partition, region, accountId } = world;
  return {
    async create({ properties }) {
      const { Tags, ...settings } = properties;
      const tags = Object.entries(tagsOf(Tags)).map(([Key, Value]) => ({ Key, Value }));
      const made = await failing(() =>
        api.CreateApplicationStatusCheck({
          ...request(settings),
          TagSpecifications: [{ ResourceType: 'application-status-check', Tags: tags }],
        }),
      );
      const id = made?.ApplicationStatusCheck?.ApplicationStatusCheckId ?? '';
      const Arn = `arn:${partition}:ec2:${region}:${accountId}:application-status-check/${id}`;
      return { physicalId: Arn, attributes: { ApplicationStatusCheckId: id, Arn } };
    },
    async update(now, { Tags: _, ...settings }) {
      const ApplicationStatusCheckId = String(now.attributes.ApplicationStatusCheckId);
      await failing(() =>
        api.ModifyApplicationStatusCheck({ ...request(settings), ApplicationStatusCheckId }),
      );
      return now;
    },
    async remove({ attributes: { ApplicationStatusCheckId = '' } }) {
      await failing(() => api.DeleteApplicationStatusCheck({ ApplicationStatusCheckId }));
    },
  };
};

/** The properties have the names of the API's members; EC2 itself refuses what is wrong in them. */
const request = (settings: JsonObject) => settings as JsonObject & CreateApplicationStatusCheckRequest;

/** What EC2 refuses is why the resource has failed; what is gone is deleted. */
async function failing<T>(work: () => T): Promise<T | undefined> {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code.endsWith('NotFound')) return undefined;
    throw new ResourceFailed(`${error.message} (${error.code})`);
  }
}

const tagsOf = (tags: Json | undefined): Record<string, string> =>
  Object.fromEntries(
    (isList(tags) ? tags : []).flatMap(tag => (isObject(tag) ? [[String(tag.Key), String(tag.Value)]] : [])),
  );
