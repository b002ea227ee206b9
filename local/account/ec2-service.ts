import * as client from '@aws-sdk/client-ec2';
import { type Service, ServiceError } from '../wire/contract.ts';
import type { ApplicationStatusChecks } from './application-status.ts';
import { applicationStatusOperations } from './application-status-operations.ts';
import { ec2NetworkOperations } from './ec2-network-operations.ts';
import { ec2Operations } from './ec2-operations.ts';
import { invalidValue, refuseDryRun, refuseOthers } from './ec2-request.ts';
import { securityGroupRules } from './security-group-rules.ts';
import { suppressionOperations } from './suppression-operations.ts';

/** Every EC2 operation that the simulated account answers. */
export function ec2Api(checks: ApplicationStatusChecks) {
  const { ec2, world, registry } = checks;
  const { network } = ec2;

  const tag = (id: string, tags: Readonly<Record<string, string>>) => {
    const tagged = network.subnets.get(id)?.tags ?? network.securityGroups.get(id)?.tags;
    if (tagged) for (const [key, value] of Object.entries(tags)) tagged.set(key, value);
    else if (ec2.instance(id)) ec2.tag(id, tags);
    else if (!registry.tag(id, tags)) throw new ServiceError('InvalidID', `The ID '${id}' is not valid`);
  };

  return {
    ...ec2Operations(ec2, checks),
    ...ec2NetworkOperations(world, network),
    ...securityGroupRules(network),
    ...applicationStatusOperations(checks),
    ...suppressionOperations(checks),

    /** The `aws:` tags are the services' own. */
    CreateTags(input: client.CreateTagsRequest): object {
      const { Resources, Tags, DryRun, ...rest } = input;
      refuseOthers('CreateTags', rest);
      refuseDryRun(DryRun);
      const tags = Object.fromEntries((Tags ?? []).map(({ Key, Value }) => [Key ?? '', Value ?? '']));
      const reserved = Object.keys(tags).find(key => key === '' || key.startsWith('aws:'));
      if (reserved !== undefined)
        throw invalidValue(`Tag keys must not be empty nor begin with 'aws:': '${reserved}'.`);
      for (const id of Resources ?? []) tag(id, tags);
      return {};
    },
  };
}

export const ec2Service = (checks: ApplicationStatusChecks): Service => ({
  name: 'ec2',
  client,
  protocol: { kind: 'ec2-query', version: '2016-11-15' },
  operations: ec2Api(checks),
});
