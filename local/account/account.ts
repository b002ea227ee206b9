import type { TagLookup } from '../stack/actions/resources.ts';
import type { Service } from '../wire/contract.ts';
import { Alarms } from './alarms.ts';
import { ApplicationStatusChecks } from './application-status.ts';
import { AutoScaling, autoScalingService } from './auto-scaling.ts';
import type { Group } from './auto-scaling-group.ts';
import type { CheckQuotas } from './check-registry.ts';
import { CloudWatch } from './cloud-watch.ts';
import { cloudWatchService } from './cloud-watch-service.ts';
import { CodeDeploy, codeDeployService } from './code-deploy.ts';
import { Ec2 } from './ec2.ts';
import { ec2Service } from './ec2-service.ts';
import { ElasticLoadBalancing } from './elastic-load-balancing.ts';
import type { ServiceEvent } from './neighbours.ts';
import { SimpleStorage } from './simple-storage.ts';
import { simpleStorageService } from './simple-storage-service.ts';
import { Traffic } from './traffic.ts';
import { Trail } from './trail.ts';
import type { World } from './world.ts';

/** The simulated account: every service, knowing its neighbours. */
export interface Account {
  readonly world: World;
  readonly ec2: Ec2;
  readonly checks: ApplicationStatusChecks;
  readonly loadBalancing: ElasticLoadBalancing;
  readonly autoScaling: AutoScaling;
  readonly storage: SimpleStorage;
  readonly codeDeploy: CodeDeploy;
  readonly cloudWatch: CloudWatch;
  readonly alarms: Alarms;
  readonly traffic: Traffic;
  readonly services: readonly Service[];
  readonly tags: TagLookup;
  /** Who hears the events that the services send to EventBridge. */
  onEvent(hear: (event: ServiceEvent) => void): void;
}

/** @param quotas of application status checks, where they are not AWS's defaults */
export function createAccount(world: World, quotas: Partial<CheckQuotas> = {}): Account {
  const listeners: ((event: ServiceEvent) => void)[] = [];
  const onEvent = (event: ServiceEvent) => {
    for (const hear of listeners) hear(event);
  };
  const ec2 = new Ec2(world);
  const cloudWatch = new CloudWatch(world);
  const alarms = new Alarms(cloudWatch, onEvent);
  const checks = new ApplicationStatusChecks(ec2, {
    metrics: cloudWatch,
    quotas,
    trail: new Trail(world, onEvent),
  });
  const storage = new SimpleStorage(world, onEvent);
  const loadBalancing = new ElasticLoadBalancing(world, ec2, storage, ec2.network);
  const autoScaling = new AutoScaling({
    world,
    instances: ec2,
    statuses: checks,
    targetGroups: loadBalancing,
    onEvent,
  });
  const codeDeploy = new CodeDeploy(world, onEvent);
  return {
    world,
    ec2,
    checks,
    loadBalancing,
    autoScaling,
    storage,
    codeDeploy,
    cloudWatch,
    alarms,
    traffic: new Traffic(world, loadBalancing, ec2, cloudWatch),
    services: [
      ec2Service(checks),
      loadBalancing.service,
      autoScalingService(autoScaling),
      codeDeployService(codeDeploy),
      cloudWatchService(cloudWatch, alarms),
      simpleStorageService(storage),
    ],
    tags: {
      tagsOf(kind, id) {
        switch (kind) {
          case 'instance':
            return ec2.instance(id)?.tags;
          case 'target-group':
            return [...loadBalancing.groups()].find(group => group.arn === id)?.tags;
          case 'auto-scaling-group':
            return tagsOfGroup([...autoScaling.groups()].find(group => group.name === id));
          case 'application-status-check':
            return checks.registry.active().find(check => check.id === id)?.tags;
          case 'security-group':
            return ec2.network.securityGroups.get(id)?.tags;
          default:
            return undefined;
        }
      },
      autoScalingGroupOf: instanceId => autoScaling.memberOf(instanceId)?.group.name,
      deploymentGroupOf: deploymentId => codeDeploy.deployment(deploymentId)?.group,
    },
    onEvent: hear => listeners.push(hear),
  };
}

const tagsOfGroup = (group: Group | undefined): ReadonlyMap<string, string> | undefined =>
  group && new Map(Object.entries(group.settings.tags));
