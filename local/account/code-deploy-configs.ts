import type { MinimumHealthyHostsType } from '@aws-sdk/client-codedeploy';

export interface MinimumHealthyHosts {
  readonly type: MinimumHealthyHostsType;
  readonly value: number;
}

export interface DeploymentConfig {
  readonly name: string;
  readonly minimumHealthyHosts: MinimumHealthyHosts;
  readonly createdAt: number;
}

const ONE_AT_A_TIME = 'CodeDeployDefault.OneAtATime';

/** INF: how GetDeploymentConfig shows OneAtATime; the guide gives the other two as 50 % and no minimum. */
const PREDEFINED: Readonly<Record<string, MinimumHealthyHosts>> = {
  [ONE_AT_A_TIME]: { type: 'FLEET_PERCENT', value: 99 },
  'CodeDeployDefault.HalfAtATime': { type: 'FLEET_PERCENT', value: 50 },
  'CodeDeployDefault.AllAtOnce': { type: 'HOST_COUNT', value: 0 },
};

/** AWS made its own configurations in 2014. */
export const predefinedConfigs = (): DeploymentConfig[] =>
  Object.entries(PREDEFINED).map(([name, minimumHealthyHosts]) => ({
    name,
    minimumHealthyHosts,
    createdAt: Date.UTC(2014, 9, 1),
  }));

/**
 * How many of `instances` have to stay healthy. Undefined when a configuration of a person's leaves none to deploy to;
 * the predefined ones always leave one.
 */
export function healthyFloor(config: DeploymentConfig, instances: number): number | undefined {
  const { type, value } = config.minimumHealthyHosts;
  if (config.name === ONE_AT_A_TIME) return Math.max(0, instances - 1);
  const floor = type === 'HOST_COUNT' ? value : Math.ceil((instances * value) / 100);
  if (floor < instances) return floor;
  return config.name in PREDEFINED ? Math.max(0, instances - 1) : undefined;
}
