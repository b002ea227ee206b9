/** What `policy.launches` says of instances that a group launches while a run is live. */
export type LaunchesPolicy = 'auto' | 'ignore' | 'join' | 'wait';

/** How a request names its fleet. */
type Named =
  | { readonly instanceIds: readonly string[] }
  | { readonly autoScalingGroupName: string }
  | { readonly codeDeployDeploymentId: string }
  | { readonly tag: { readonly key: string; readonly value: string } };

/** What a run's request says of its fleet. */
interface Asked {
  readonly fleet: Named;
  readonly zones?: readonly string[] | undefined;
}

/**
 * What a run does about an instance that one of its Auto Scaling groups launches meanwhile. One outside the zones, or without
 * the tag, that the request names is none of its fleet.
 *
 * By itself a fleet that is named as a group, a tag or a deployment is joined by what comes to it, for whoever deploys to it
 * may reach the newcomer as well; a fleet of listed instances is not, for nobody deploys to what is not on the list.
 */
export function chooseLaunches(
  policy: LaunchesPolicy,
  { fleet, zones }: Asked,
  { zone, tags }: { readonly zone: string; readonly tags: Readonly<Record<string, string>> },
): Exclude<LaunchesPolicy, 'auto'> {
  if (zones && !zones.includes(zone)) return 'ignore';
  if ('tag' in fleet && tags[fleet.tag.key] !== fleet.tag.value) return 'ignore';
  if (policy !== 'auto') return policy;
  return 'instanceIds' in fleet ? 'ignore' : 'join';
}
