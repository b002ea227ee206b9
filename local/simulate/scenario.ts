import { readFileSync } from 'node:fs';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { processes } from '../account/auto-scaling-group.ts';
import { measuredPhysics } from '../account/physics.ts';

const seconds = z.number().min(0);

const targetGroup = z.strictObject({
  name: z.string().min(1),
  port: z.int().min(1).max(65535),
  /** Further ports on which every instance is registered in this group. */
  alsoOnPorts: z.array(z.int().min(1).max(65535)).default([]),
  targetType: z.enum(['instance', 'ip']).default('instance'),
  /** False for a group that no load balancer uses. */
  served: z.boolean().default(true),
  healthCheck: z
    .strictObject({
      path: z.string().startsWith('/').default('/ready'),
      intervalSeconds: z.int().min(5).default(10),
      timeoutSeconds: z.int().min(2).default(5),
      healthyThreshold: z.int().min(2).default(3),
      unhealthyThreshold: z.int().min(2).default(2),
    })
    .prefault({}),
  /** AWS's own attribute names. */
  attributes: z.record(z.string(), z.string()).default({}),
  traffic: z
    .strictObject({
      requestsPerSecond: z.number().min(0),
      shortMs: z.number().min(1).default(50),
      longShare: z.number().min(0).max(1).default(0),
      longMs: z.number().min(1).default(20_000),
    })
    .optional(),
});

const check = z.strictObject({
  port: z.int().min(1).max(65535),
  path: z.string().startsWith('/').default('/health'),
  aggregation: z.enum(['included', 'excluded']).default('included'),
  graceSeconds: z.int().min(1).max(600).default(90),
});

const fleet = z.strictObject({
  zones: z
    .array(
      z.string().regex(/^eu-west-1[a-z]$/, 'has to be a zone of eu-west-1, where the simulated account is'),
    )
    .min(1)
    .default(['eu-west-1a', 'eu-west-1b', 'eu-west-1c']),
  instances: z.int().min(1),
  /** From boot, or from the restart in a deployment, until the application answers. */
  startUpSeconds: seconds.default(30),
  /** What carries the opt-in tag. */
  optedIn: z
    .array(z.enum(['instances', 'targetGroups', 'autoScalingGroup']))
    .default(['instances', 'targetGroups', 'autoScalingGroup']),
  autoScaling: z
    .strictObject({
      healthChecks: z.array(z.enum(['EC2', 'ELB'])).default(['EC2', 'ELB']),
      graceSeconds: seconds.default(120),
      minSize: z.int().min(0).optional(),
      /** Processes that a person has suspended. */
      suspended: z.array(z.enum(processes)).default([]),
      /** Members in these other states, besides the fleet. */
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
        .default([]),
    })
    .nullable()
    .prefault({}),
  loadBalancer: z
    .strictObject({
      type: z.enum(['application', 'network']).default('application'),
      crossZone: z.boolean().optional(),
    })
    .prefault({}),
  targetGroups: z.array(targetGroup).default([]),
  checks: z.array(check).default([]),
  /** A person has suppressed so many instances: for these seconds from the start of the deployment, else indefinitely. */
  suppressedByOthers: z.strictObject({ instances: z.int().min(1), seconds: seconds.optional() }).optional(),
  /** The application answers 500 on every instance, or on those of these numbers, until it is deployed anew. */
  broken: z.union([z.boolean(), z.array(z.int().min(0))]).default(false),
});

const deployment = z.strictObject({
  /** Who carries it out: the scenario itself, batch by batch, or CodeDeploy, with the AppSpec of examples/codedeploy. */
  through: z.enum(['batches', 'codedeploy']).default('batches'),
  /** The instances of the fleet that are deployed to, by their number from 0; all unless given. */
  instances: z.array(z.int().min(0)).min(1).optional(),
  /** `half` unless given. */
  batches: z.union([z.enum(['one-at-a-time', 'half', 'all']), z.int().min(1)]).optional(),
  /** Through CodeDeploy, the deployment configuration `CodeDeployDefault.`; OneAtATime unless given. */
  config: z.enum(['OneAtATime', 'HalfAtATime', 'AllAtOnce']).optional(),
  /** Through CodeDeploy, its own load balancer step moves the traffic, and Quiesce does not. */
  loadBalancerStep: z.boolean().optional(),
  /** Through CodeDeploy, one run over the whole fleet, with `traffic: leave`, around the deployment. */
  fleetWide: z.boolean().optional(),
  /** Through CodeDeploy, the AppSpec calls quiesce.sh; yes unless given. */
  hooks: z.boolean().optional(),
  /** Through CodeDeploy, a deployment that fails is rolled back, by another deployment. */
  autoRollback: z.boolean().optional(),
  /** Through CodeDeploy, `real` runs its scripts as child processes, `imitated` (unless given) does what they do. */
  scripts: z.enum(['real', 'imitated']).optional(),
  /** How long the application is stopped on each instance of a batch. */
  downSeconds: seconds.default(120),
  /** How the request names the fleet. */
  fleet: z
    .enum(['instanceIds', 'autoScalingGroupName', 'codeDeployDeploymentId', 'tag'])
    .default('instanceIds'),
  /** The rest of before-deploy's input, as the product reads it. */
  request: z.record(z.string(), z.unknown()).default({}),
  /** The new version never answers. */
  neverReady: z.boolean().default(false),
});

const ONLY_THROUGH_CODEDEPLOY = [
  'config',
  'loadBalancerStep',
  'fleetWide',
  'hooks',
  'autoRollback',
  'scripts',
] as const;

/** What one way of deploying does not know is refused, not ignored. */
function refuseForeignMembers(
  spec: z.output<typeof deployment>,
  { addIssue }: { readonly addIssue: (issue: { code: 'custom'; path: string[]; message: string }) => void },
): void {
  const throughCodeDeploy = spec.through === 'codedeploy';
  const foreign = throughCodeDeploy ? (['batches', 'instances'] as const) : ONLY_THROUGH_CODEDEPLOY;
  for (const name of foreign.filter(one => spec[one] !== undefined))
    addIssue({ code: 'custom', path: [name], message: `is not for a deployment through ${spec.through}` });
  if (throughCodeDeploy && spec.fleet === 'codeDeployDeploymentId')
    addIssue({ code: 'custom', path: ['fleet'], message: 'has to be known before there is a deployment' });
}

const happening = z.strictObject({
  atSeconds: seconds,
  /** Counted from when a machine first enters this state; from the start of the deployment unless given. */
  after: z.string().min(1).optional(),
  do: z.enum([
    'terminate-instance',
    'release-suppression',
    'register-targets',
    'stop-execution',
    'stop-deployment',
    'scale-out',
    'mark-unhealthy',
    'break-application',
  ]),
  instance: z.int().min(0).default(0),
});

const ending = z.strictObject({
  outcome: z.enum(['succeeded', 'refused', 'failed']).default('succeeded'),
  /** The named error of a refused or failed deployment. */
  error: z.string().optional(),
});

/** Somebody else's deployment to the same fleet, begun while the first is on its way. */
const rival = deployment
  .extend({
    through: z.literal('batches').default('batches'),
    atSeconds: seconds,
    expect: ending.prefault({}),
  })
  .superRefine(refuseForeignMembers);

const expectation = ending.extend({
  replaced: z.int().min(0).default(0),
  failedRequests: z.int().min(0).default(0),
  /** Instances that the failed runs hold for somebody to look at. */
  held: z.int().min(0).default(0),
});

export const scenario = z
  .strictObject({
    name: z.string().min(1),
    description: z.string().default(''),
    seed: z.int().min(0).default(1),
    fleet,
    deployment: deployment.superRefine(refuseForeignMembers).prefault({}),
    rivals: z.array(rival).default([]),
    events: z.array(happening).default([]),
    /** Overrides of the account's physics, by the names of local/account/physics.ts. */
    physics: z
      .record(
        z.string().refine(name => name in measuredPhysics, 'is no name in local/account/physics.ts'),
        z.unknown(),
      )
      .default({}),
    expect: expectation.prefault({}),
  })
  .superRefine(({ fleet: { instances }, events }, { addIssue }) => {
    for (const [index, { instance }] of events.entries())
      if (instance >= instances)
        addIssue({
          code: 'custom',
          path: ['events', index, 'instance'],
          message: `has to be below ${instances}: the fleet's instances are counted from 0`,
        });
  });
export type Scenario = z.output<typeof scenario>;
export type ScenarioEvent = z.output<typeof happening>;
export type DeploymentSpec = z.output<typeof deployment>;

/** A scenario file that cannot be used: says the file, the line and what to mend. */
export class ScenarioRefused extends Error {
  override readonly name = 'ScenarioRefused';
}

/** Reads a scenario. @throws ScenarioRefused */
export function readScenario(path: string): Scenario {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    throw new ScenarioRefused(
      code === 'ENOENT' ? `There is no file ${path}.` : `${path} cannot be read: ${String(error)}.`,
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
  const read = scenario.safeParse(document.toJS() ?? {});
  if (read.success) return read.data;
  const faults = read.error.issues.map(({ path: keys, message }) => {
    const name = keys.join('.') || 'the scenario';
    return `${path}:${lineOf(document, keys, lines)}: ${name}: ${message}`;
  });
  throw new ScenarioRefused(faults.join('\n'));
}

/** The line of the deepest part of the path that the file has. */
function lineOf(
  document: ReturnType<typeof parseDocument>,
  keys: readonly PropertyKey[],
  lines: LineCounter,
): number {
  for (let depth = keys.length; depth > 0; depth--) {
    const node = document.getIn(keys.slice(0, depth), true);
    const start = node && typeof node === 'object' && 'range' in node ? node.range : undefined;
    if (Array.isArray(start)) return lines.linePos(Number(start[0])).line;
  }
  return 1;
}
