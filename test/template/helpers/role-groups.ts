import type { Stack } from '../../../local/stack/deploy.ts';
import type { DeployedTemplate, Role } from '../../../local/stack/deployed-template.ts';

/** Whose permissions are proven together: functions by their folder, machines and rules by name. */
export const roleGroups = {
  deploying: { folder: 'functions/deploy/', machines: ['BeforeDeploy', 'AfterDeploy', 'TellPeople'] },
  adopting: { folder: 'functions/checks/', machines: ['PromoteCheck'] },
  hooks: { folder: 'functions/hooks/', machines: ['UndoRun'] },
  resources: { folder: 'functions/resources/', machines: ['ServeResource'] },
  retiring: { folder: 'functions/retire/', machines: ['RetireCheck'] },
  alarms: { folder: 'functions/alarms/', machines: ['ReconcileAlarms'] },
  zones: { folder: 'functions/zones/', machines: [] },
  logs: { folder: 'functions/logs/', machines: [] },
  instances: {
    folder: 'functions/instances/',
    machines: ['InstanceLaunch', 'InstanceTermination'],
    rules: ['InstanceLaunchWaiting', 'InstanceTerminationWaiting'],
  },
} as const;
export type RoleGroup = keyof typeof roleGroups;

/** Every role of the template: of functions, machines, and the rules that start machines. */
export const everyRole = ({ functions, machines, rules }: DeployedTemplate): readonly Role[] => [
  ...[...functions.values(), ...machines.values()].map(({ role }) => role),
  ...[...rules.values()].flatMap(({ targets }) => targets.flatMap(({ role }) => role ?? [])),
];

/** The logical ids of a group's roles. */
export function rolesOf(
  { functions, machines, rules }: DeployedTemplate,
  group: RoleGroup,
): readonly string[] {
  const { folder, machines: named, ...more } = roleGroups[group];
  const ofRules = 'rules' in more ? more.rules : [];
  return [
    ...[...functions.values()].filter(({ source }) => source?.startsWith(folder)).map(({ role }) => role),
    ...named.flatMap(name => machines.get(name)?.role ?? []),
    ...ofRules.flatMap(name => (rules.get(name)?.targets ?? []).flatMap(({ role }) => role ?? [])),
  ].map(({ logicalId }) => logicalId);
}

/** What a group may do and no call to this account has needed. */
export function unneededBy(group: RoleGroup, { template, unusedPermissions }: Stack): readonly string[] {
  const roles = new Set(rolesOf(template, group));
  return unusedPermissions()
    .filter(({ role }) => roles.has(role))
    .map(({ role, sid, action }) => `${role} ${sid} ${action}`);
}

/** What a group may do and none of these accounts has needed. */
export function unneededByAll(group: RoleGroup, stacks: readonly Stack[]): readonly string[] {
  const [first = [], ...others] = stacks.map(stack => unneededBy(group, stack));
  return first.filter(permission => others.every(other => other.includes(permission)));
}
