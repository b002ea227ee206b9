import { readFileSync } from 'node:fs';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { ZONE_CLASSES } from '../../functions/core/domain/zone-view.ts';
import { readOrFaults } from '../../functions/core/faults.ts';
import { processes } from '../account/auto-scaling-group.ts';
import { measuredPhysics } from '../account/physics.ts';
import { locateFaults } from '../located-faults.ts';
import { faultSpec } from './fault-spec.ts';
import { judgeScenario } from './judge-scenario.ts';

const seconds = z.number().min(0);
const port = z.int().min(1).max(65535);
const httpPath = z.string().startsWith('/');

const targetGroup = z.strictObject({
  name: z.string().min(1),
  port: port.describe('the port on which every instance is registered'),
  alsoOnPorts: z
    .array(port)
    .default([])
    .describe('further ports on which every instance is registered in this group'),
  targetType: z.enum(['instance', 'ip']).default('instance'),
  attached: z
    .boolean()
    .default(true)
    .describe('false for a group of instances that the Auto Scaling group does not know of'),
  served: z.boolean().default(true).describe('false for a group that no load balancer uses'),
  healthCheck: z
    .strictObject({
      path: httpPath.default('/ready'),
      intervalSeconds: z.int().min(5).max(300).default(10),
      timeoutSeconds: z.int().min(2).max(120).default(5),
      healthyThreshold: z.int().min(2).max(10).default(3),
      unhealthyThreshold: z.int().min(2).max(10).default(2),
    })
    .prefault({})
    .describe("the load balancer's health check"),
  attributes: z
    .record(z.string(), z.string())
    .default({})
    .describe("AWS's own attribute names, such as `deregistration_delay.timeout_seconds`; values are text"),
  traffic: z
    .strictObject({
      requestsPerSecond: z.number().min(0),
      shortMs: z.number().min(1).default(50).describe('how long a short request takes'),
      longShare: z.number().min(0).max(1).default(0).describe('which part of the requests are long ones'),
      longMs: z.number().min(1).default(20_000).describe('how long a long request takes'),
    })
    .optional()
    .describe('what is sent to the group; none unless given'),
});

const check = z.strictObject({
  port,
  path: httpPath.default('/health'),
  aggregation: z.enum(['included', 'excluded']).default('included'),
  graceSeconds: z.int().min(1).max(600).default(90).describe('its initialization grace period'),
  ownGroup: z
    .enum(['deleted-when-free', 'kept'])
    .optional()
    .describe(
      'asked from a security group of its own in each zone; `deleted-when-free`: which carries the tag quiesce-delete-when-free',
    ),
});

const fleet = z.strictObject({
  zones: z
    .array(
      z.string().regex(/^eu-west-1[a-z]$/, 'must be a zone of eu-west-1, where the simulated account is'),
    )
    .min(1)
    .default(['eu-west-1a', 'eu-west-1b', 'eu-west-1c'])
    .describe('instances are spread over them in turn'),
  instances: z.int().min(1).describe('how many there are'),
  startUpSeconds: seconds
    .default(30)
    .describe('from boot, or from the restart in a deployment, until the application answers'),
  alsoListensOn: z
    .array(port)
    .default([])
    .describe('ports on which the application answers besides those of the target groups'),
  optedIn: z
    .array(z.enum(['instances', 'targetGroups', 'autoScalingGroup', 'checks']))
    .default(['instances', 'targetGroups', 'autoScalingGroup', 'checks'])
    .describe('what carries the opt-in tag'),
  autoScaling: z
    .strictObject({
      healthChecks: z.array(z.enum(['EC2', 'ELB'])).default(['EC2', 'ELB']),
      graceSeconds: seconds.default(120).describe("the group's own health check grace period"),
      minSize: z.int().min(0).optional().describe('half of the instances unless given'),
      suspended: z.array(z.enum(processes)).default([]).describe('processes that a person has suspended'),
      hooks: z
        .strictObject({ launch: z.int().min(30).optional(), terminate: z.int().min(30).optional() })
        .prefault({})
        .describe("Quiesce's lifecycle hooks on the group: the heartbeat time-out of each, in seconds"),
      others: z
        .array(
          z.enum([
            'Standby',
            'Pending:Wait',
            'Terminating:Wait',
            'Terminating:Retained',
            'Warmed:Running',
            'Warmed:Stopped',
          ]),
        )
        .default([])
        .describe('members in these other states, besides the fleet'),
    })
    .nullable()
    .prefault({})
    .describe('the Auto Scaling group; null for a fleet without one'),
  loadBalancer: z
    .strictObject({
      type: z.enum(['application', 'network']).default('application'),
      crossZone: z.boolean().optional().describe("AWS's default of its type unless given"),
    })
    .prefault({}),
  targetGroups: z.array(targetGroup).default([]),
  checks: z.array(check).default([]).describe('application status checks'),
  suppressedByOthers: z
    .strictObject({
      instances: z.int().min(1),
      seconds: seconds.optional().describe('from the start of the deployment; indefinitely unless given'),
    })
    .optional()
    .describe('a person has suppressed so many instances'),
  broken: z
    .union([z.boolean(), z.array(z.int().min(0))], {
      error: 'must be true, false or a list of numbers of instances, counted from 0',
    })
    .default(false)
    .describe(
      'the application answers 500, on every instance or on those of these numbers, until it is deployed anew',
    ),
  flaky: z
    .array(z.int().min(0))
    .default([])
    .describe('the application answers 503 in every second minute, on the instances of these numbers'),
  securityGroup: z
    .enum(['open', 'closed'])
    .default('open')
    .describe("`closed`: it has no rule that lets a check in. The load balancer's requests do not ask it"),
});

const deployment = z.strictObject({
  through: z
    .enum(['batches', 'codedeploy'])
    .default('batches')
    .describe(
      'who carries it out: the scenario itself, batch by batch, or CodeDeploy, with the AppSpec of examples/codedeploy',
    ),
  instances: z
    .array(z.int().min(0))
    .min(1)
    .optional()
    .describe('the instances that are deployed to, by their number from 0; all unless given'),
  batches: z
    .union([z.enum(['one-at-a-time', 'half', 'all']), z.int().min(1)], {
      error: 'must be one-at-a-time, half, all or a number of instances',
    })
    .optional()
    .describe('how many at a time: `one-at-a-time`, `half` (unless given), `all` or a number'),
  config: z
    .enum(['OneAtATime', 'HalfAtATime', 'AllAtOnce'])
    .optional()
    .describe('through CodeDeploy, the configuration `CodeDeployDefault.`; OneAtATime unless given'),
  loadBalancerStep: z
    .boolean()
    .optional()
    .describe('through CodeDeploy, its own load balancer step moves the traffic, and Quiesce does not'),
  blueGreen: z
    .strictObject({
      terminateAfterMinutes: z
        .number()
        .min(0)
        .describe('how long after the traffic has moved the original group is deleted'),
    })
    .optional()
    .describe('through CodeDeploy, to a copy of the Auto Scaling group'),
  fleetWide: z
    .boolean()
    .optional()
    .describe(
      'through CodeDeploy, one run over the whole fleet, with `traffic: leave`, around the deployment',
    ),
  hooks: z
    .boolean()
    .optional()
    .describe('through CodeDeploy, the AppSpec calls quiesce.sh; yes unless given'),
  autoRollback: z
    .boolean()
    .optional()
    .describe('through CodeDeploy, a deployment that fails is rolled back, by another deployment'),
  scripts: z
    .enum(['real', 'imitated'])
    .optional()
    .describe(
      'through CodeDeploy, `real` runs its scripts as child processes, `imitated` (unless given) does what they do',
    ),
  downSeconds: seconds
    .default(120)
    .describe('how long the application is stopped on each instance of a batch'),
  fleet: z
    .enum(['instanceIds', 'autoScalingGroupName', 'codeDeployDeploymentId', 'tag'])
    .default('instanceIds')
    .describe('how the request names the fleet'),
  request: z
    .record(z.string(), z.unknown())
    .default({})
    .describe("the rest of before-deploy's input, by schemas/before-deploy.schema.json"),
  idleMinutes: z
    .number()
    .min(1)
    .optional()
    .describe('instead of a deployment, the fleet is left to itself for so long'),
  promotes: z
    .boolean()
    .optional()
    .describe('in batches, after-deploy is asked to promote the excluded checks of the fleet'),
  adopt: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      "instead of a deployment, the adoption of a check by the fleet's group: promote-check's input, by schemas/promote-check.schema.json, but for the group",
    ),
  retire: z
    .strictObject({
      namesGroup: z.boolean().default(false).describe('the own group of the check is named'),
      limitSeconds: z.int().min(60).optional(),
    })
    .optional()
    .describe(
      'instead of a deployment, the retirement of the first check of the fleet: retire-check. Without Quiesce it is deleted, and its own group at once',
    ),
  neverReady: z.boolean().default(false).describe('the new version never answers'),
});

const happening = z.strictObject({
  atSeconds: seconds,
  after: z
    .string()
    .min(1)
    .optional()
    .describe(
      'counted from when a machine first enters this state; from the start of the deployment unless given',
    ),
  do: z.enum([
    'terminate-instance',
    'release-suppression',
    'register-targets',
    'suppress-instance',
    'delete-check',
    'stop-execution',
    'stop-deployment',
    'scale-out',
    'scale-in',
    'replace-instance',
    'refresh-instances',
    'enter-standby',
    'exit-standby',
    'mark-unhealthy',
    'break-application',
    'answer-errors',
    'heal-application',
    'stop-application',
    'deregister-targets',
    'close-security-group',
    'open-security-group',
    'include-check',
    'use-own-group',
    'refer-to-own-group',
    'disassociate-check',
  ]),
  instance: z.int().min(0).default(0).describe('its number, counted from 0'),
  machine: z
    .string()
    .min(1)
    .optional()
    .describe('for `stop-execution`: only executions of this machine, by its logical id; all unless given'),
  seconds: z.int().min(1).optional().describe('for `suppress-instance`: how long; indefinitely unless given'),
  mayMiss: z
    .boolean()
    .default(false)
    .describe(
      'it may come too late, or find nothing to act on; else one that comes too late is a fault of the scenario',
    ),
});

const ending = z.strictObject({
  outcome: z
    .enum(['succeeded', 'refused', 'failed', 'any'])
    .default('succeeded')
    .describe('`any`: however it ends and whatever it costs, only what must always hold counts'),
  error: z.string().optional().describe('the named error of a refused or failed deployment'),
  says: z.string().optional().describe("a part of that error's sentence"),
});

const rival = deployment.extend({
  through: z.literal('batches').default('batches'),
  atSeconds: seconds,
  expect: ending.prefault({}),
});

const expectation = ending.extend({
  replaced: z
    .int()
    .min(0)
    .default(0)
    .describe('instances that Auto Scaling ends for their health, those that it has launched meanwhile too'),
  failedRequests: z.int().min(0).default(0),
  /** Instances that the failed runs hold for somebody to look at. */
  held: z.int().min(0).default(0),
  ownGroups: z.int().min(0).optional().describe('how many own groups of checks are left in the end'),
  included: z.int().min(0).optional().describe('how many application status checks are included in the end'),
  zoneClasses: z
    .array(z.enum([...ZONE_CLASSES, 'well']))
    .optional()
    .describe('what befalls the target groups, one after the other, as the view of the zones tells it'),
  alarms: z
    .array(z.string())
    .optional()
    .describe('the alarms of the stack that ring meanwhile, by their logical ids'),
  told: z
    .array(z.string())
    .optional()
    .describe('the subjects of what people are told, in order, with `NotificationTopic: create`'),
});

export const scenario = z.strictObject({
  name: z.string().min(1),
  description: z.string().default(''),
  seed: z.int().min(0).default(1).describe('everything random is drawn from it'),
  fleet,
  quotas: z
    .strictObject({
      checks: z.int().min(0).optional(),
      associationsPerCheck: z.int().min(0).optional(),
      associations: z.int().min(0).optional(),
      targets: z.int().min(0).optional(),
    })
    .prefault({})
    .describe("the account's quotas of application status checks, where they are not AWS's defaults"),
  deployment: deployment.prefault({}),
  rivals: z
    .array(rival)
    .default([])
    .describe(
      "somebody else's deployments to the same fleet, begun while the first is on its way: what `deployment` has, in batches, and these",
    ),
  events: z.array(happening).default([]).describe('what befalls the fleet meanwhile'),
  faults: faultSpec.optional().describe('what goes wrong between the product and AWS'),
  physics: z
    .record(
      z.string().refine(name => name in measuredPhysics, 'is no name in local/account/physics.ts'),
      z.unknown(),
    )
    .default({})
    .describe("overrides of the account's physics, by the names of local/account/physics.ts"),
  parameters: z
    .record(z.string(), z.string())
    .default({})
    .describe('of template.yaml, such as `ZoneView: Enabled`; their defaults unless given'),
  expect: expectation.prefault({}),
});
export type Scenario = z.output<typeof scenario>;
export type ScenarioEvent = z.output<typeof happening>;
export type DeploymentSpec = z.output<typeof deployment>;

/** A scenario file that cannot be used: says the file, the line and what to mend. */
export class ScenarioRefused extends Error {
  override readonly name = 'ScenarioRefused';
}

const UNREADABLE: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: path => `There is no file ${path}.`,
  EISDIR: path => `${path} is a folder: name a scenario in it.`,
};

/** Reads a scenario. @throws ScenarioRefused */
export function readScenario(path: string): Scenario {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    throw new ScenarioRefused(
      UNREADABLE[String(code)]?.(path) ?? `${path} cannot be read: ${String(error)}.`,
    );
  }
  return parseScenario(text, path);
}

/** @throws ScenarioRefused */
export function parseScenario(text: string, path: string): Scenario {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [broken] = document.errors;
  if (broken)
    throw new ScenarioRefused(
      `${path}:${lines.linePos(broken.pos[0]).line}: this is not YAML: ${broken.message.split('\n')[0] ?? ''}`,
    );
  const read = readOrFaults(scenario, document.toJS() ?? {});
  const faults = read.faults ?? judgeScenario(read.data);
  if (read.faults === undefined && faults.length === 0) return read.data;
  throw new ScenarioRefused(locateFaults(text, path, faults, 'the scenario').join('\n'));
}
