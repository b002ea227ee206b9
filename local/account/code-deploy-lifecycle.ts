import type { TargetLabel } from '@aws-sdk/client-codedeploy';
import type { DeploymentGroup } from './code-deploy-deployment.ts';

const BLOCK_TRAFFIC = ['BeforeBlockTraffic', 'BlockTraffic', 'AfterBlockTraffic'];
const ALLOW_TRAFFIC = ['BeforeAllowTraffic', 'AllowTraffic', 'AfterAllowTraffic'];
const INSTALL = [
  'ApplicationStop',
  'DownloadBundle',
  'BeforeInstall',
  'Install',
  'AfterInstall',
  'ApplicationStart',
  'ValidateService',
];

/** Of a deployment to ECS or Lambda. */
const FUNCTION_EVENTS: Readonly<Record<'ECS' | 'Lambda', readonly string[]>> = {
  Lambda: ['BeforeAllowTraffic', 'AllowTraffic', 'AfterAllowTraffic'],
  ECS: [
    'BeforeInstall',
    'Install',
    'AfterInstall',
    'AllowTestTraffic',
    'AfterAllowTestTraffic',
    'BeforeAllowTraffic',
    'AllowTraffic',
    'AfterAllowTraffic',
  ],
};

/** The guide's order. In a blue/green deployment an original instance only leaves traffic, a replacement only enters it. */
export function lifecycleOf(group: DeploymentGroup, label: TargetLabel | undefined): readonly string[] {
  if (group.computePlatform !== 'Server') return FUNCTION_EVENTS[group.computePlatform];
  if (label === 'Blue') return BLOCK_TRAFFIC;
  if (label === 'Green') return [...INSTALL, ...ALLOW_TRAFFIC];
  return group.targetGroupNames.length > 0 ? [...BLOCK_TRAFFIC, ...INSTALL, ...ALLOW_TRAFFIC] : INSTALL;
}

/** These run the scripts of the revision that was installed before. */
const OF_THE_PREVIOUS_REVISION: ReadonlySet<string> = new Set([
  'BeforeBlockTraffic',
  'AfterBlockTraffic',
  'ApplicationStop',
]);

export const isOfThePreviousRevision = (lifecycleEvent: string): boolean =>
  OF_THE_PREVIOUS_REVISION.has(lifecycleEvent);
