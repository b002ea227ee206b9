/** How many instances CodeDeploy must keep healthy, as its deployment configurations say it. */
export type MinimumHealthyHosts =
  | { readonly type: 'HOST_COUNT'; readonly value: number }
  | { readonly type: 'FLEET_PERCENT'; readonly value: number };

/** How many waves a deployment needs at least (D8): CodeDeploy works on all but the healthy minimum at once. */
export function wavesOf(
  instances: number,
  config: { readonly name: string; readonly minimumHealthyHosts: MinimumHealthyHosts },
): number {
  // Its minimum reads as a share of the fleet, and yet it takes one after the other.
  if (config.name === 'CodeDeployDefault.OneAtATime') return instances;
  const { type, value } = config.minimumHealthyHosts;
  const keep = type === 'HOST_COUNT' ? value : Math.ceil((instances * value) / 100);
  return Math.ceil(instances / Math.max(1, instances - keep));
}

/** CodeDeploy's bound on an in-place deployment: 12 h, 8 h for custom configurations older than June 2023. */
export const deploymentLimitSeconds = (config: {
  readonly custom: boolean;
  readonly createdAt: Date | undefined;
}): number =>
  config.custom && config.createdAt !== undefined && config.createdAt < new Date('2023-06-01T00:00:00Z')
    ? 8 * 3600
    : 12 * 3600;
