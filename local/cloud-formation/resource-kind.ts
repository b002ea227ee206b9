import type { JsonObject } from '../stack/json.ts';

/** A resource of a stack, as it stands. */
export interface Standing {
  readonly logicalId: string;
  readonly type: string;
  readonly properties: JsonObject;
  readonly physicalId: string;
  /** What Fn::GetAtt gives. */
  readonly attributes: Readonly<Record<string, string>>;
}

export type Made = Pick<Standing, 'physicalId' | 'attributes'>;

/** The stack that a resource belongs to. */
export interface StackIdentity {
  readonly name: string;
  readonly id: string;
}

/** How CloudFormation makes one type of resource. */
export interface ResourceKind {
  create(wanted: Pick<Standing, 'logicalId' | 'type' | 'properties'>, stack: StackIdentity): Promise<Made>;
  /** Another physical id is a replacement: the old one is deleted when the update is over. */
  update(now: Standing, properties: JsonObject, stack: StackIdentity): Promise<Made>;
  remove(now: Standing, stack: StackIdentity): Promise<void>;
}

/** What a stack's event says as ResourceStatusReason. */
export class ResourceFailed extends Error {
  override readonly name = 'ResourceFailed';
  /** Of what a failed creation has left, and a rollback deletes. */
  readonly physicalId: string | undefined;

  constructor(reason: string, physicalId?: string) {
    super(reason);
    this.physicalId = physicalId;
  }
}
