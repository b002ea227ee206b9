import type { World } from '../../account/world.ts';
import type { DeployedTemplate } from '../deployed-template.ts';

export type TaggedKind =
  | 'instance'
  | 'application-status-check'
  | 'security-group'
  | 'network-interface'
  | 'subnet'
  | 'vpc'
  | 'target-group'
  | 'auto-scaling-group';

/** What authorization asks of the account. Undefined means that the resource does not exist. */
export interface TagLookup {
  /** `id` is an EC2 id, a target group's ARN or an Auto Scaling group's name. */
  tagsOf(kind: TaggedKind, id: string): ReadonlyMap<string, string> | undefined;
  autoScalingGroupOf(instanceId: string): string | undefined;
  deploymentGroupOf(
    deploymentId: string,
  ): { readonly applicationName: string; readonly deploymentGroupName: string } | undefined;
}

/** A resource that a call concerns, with the condition keys that go with it. */
export interface Concern {
  /** The ARN, or `*` for an action without resource-level permissions. */
  readonly resource: string;
  readonly context: Readonly<Record<string, readonly string[]>>;
  /** IAM's action, where it is not the called API's own: tag-on-create needs CreateTags, Invoke is InvokeFunction. */
  readonly action?: string;
}

/** The resources that one API action concerns, by action; the inputs are the SDK's own command types. */
export interface ActionTable {
  readonly [action: string]: (input: never, about: About) => readonly Concern[];
}

/** A tag as each service spells it in a request. */
type RequestTags = readonly { readonly Key?: string | undefined; readonly Value?: string | undefined }[];

export const EVERYTHING: readonly Concern[] = [{ resource: '*', context: {} }];

/** Rows for actions without resource-level permissions. */
export const onEverything = (...actions: readonly string[]): ActionTable =>
  Object.fromEntries(actions.map(action => [action, () => EVERYTHING]));

export const concern = (resource: string, context: Concern['context'] = {}): Concern => ({
  resource,
  context,
});

/** `aws:RequestTag/*` and `aws:TagKeys` of a request that brings tags. */
export const requestTags = (tags: RequestTags = []): Concern['context'] => ({
  'aws:TagKeys': tags.flatMap(({ Key }) => (Key === undefined ? [] : [Key])),
  ...Object.fromEntries(tags.map(({ Key = '', Value = '' }) => [`aws:RequestTag/${Key}`, [Value]])),
});

/**
 * Finds the ARNs and tags of what a call names. A resource that does not exist is left out: no tag condition can be
 * judged for it, and the service answers NotFound itself.
 */
export class About {
  readonly template: DeployedTemplate;
  readonly #world: World;
  readonly #lookup: TagLookup;

  constructor(world: World, template: DeployedTemplate, lookup: TagLookup) {
    this.#world = world;
    this.template = template;
    this.#lookup = lookup;
  }

  arn(service: string, rest: string): string {
    const { partition, region, accountId } = this.#world;
    return `arn:${partition}:${service}:${region}:${accountId}:${rest}`;
  }

  /** S3's ARNs name neither a Region nor an account. */
  object(bucket: string | undefined, key: string | undefined): string {
    return `arn:${this.#world.partition}:s3:::${bucket}/${key}`;
  }

  ec2(kind: Exclude<TaggedKind, 'target-group' | 'auto-scaling-group'>, ids: readonly string[] = []) {
    return ids.flatMap(id => this.#tagged(kind, id, 'ec2', this.arn('ec2', `${kind}/${id}`)));
  }

  targetGroup(arn: string | undefined): readonly Concern[] {
    return arn === undefined ? [] : this.#tagged('target-group', arn, 'elasticloadbalancing', arn);
  }

  autoScalingGroup(name: string | undefined): readonly Concern[] {
    if (name === undefined) return [];
    // The uuid inside a group's ARN is known to no policy author, so any will do.
    const uuid = '00000000-0000-4000-8000-000000000000';
    const arn = this.arn('autoscaling', `autoScalingGroup:${uuid}:autoScalingGroupName/${name}`);
    return this.#tagged('auto-scaling-group', name, 'autoscaling', arn);
  }

  autoScalingGroupOfInstance(instanceId: string | undefined): readonly Concern[] {
    return this.autoScalingGroup(instanceId && this.#lookup.autoScalingGroupOf(instanceId));
  }

  deploymentGroupOf(deploymentId: string | undefined): readonly Concern[] {
    const group = deploymentId && this.#lookup.deploymentGroupOf(deploymentId);
    return group ? [this.deploymentGroup(group.applicationName, group.deploymentGroupName)] : [];
  }

  deploymentGroup(application: string | undefined, group: string | undefined): Concern {
    return concern(this.arn('codedeploy', `deploymentgroup:${application}/${group}`));
  }

  #tagged(kind: TaggedKind, id: string, prefix: string, arn: string): readonly Concern[] {
    const tags = this.#lookup.tagsOf(kind, id);
    if (!tags) return [];
    const context = [...tags].flatMap(([key, value]) => [
      [`aws:ResourceTag/${key}`, [value]],
      [`${prefix}:ResourceTag/${key}`, [value]],
    ]);
    return [concern(arn, Object.fromEntries(context))];
  }
}
