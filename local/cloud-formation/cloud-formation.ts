import { uuid } from '../account/uuid.ts';
import { isCustomResource } from '../stack/resource-identities.ts';
import { CustomResources, type CustomResourcesSettings } from './custom-resources.ts';
import { inOrder } from './in-order.ts';
import { nativeResources } from './native-resources.ts';
import { ResourceFailed, type ResourceKind, type StackIdentity, type Standing } from './resource-kind.ts';
import { type Declared, readStackText, type StackText, type StackTextSettings } from './stack-text.ts';

export type StackStatus =
  | 'NONE'
  | 'CREATE_COMPLETE'
  | 'ROLLBACK_COMPLETE'
  | 'ROLLBACK_FAILED'
  | 'UPDATE_COMPLETE'
  | 'UPDATE_ROLLBACK_COMPLETE'
  | 'UPDATE_ROLLBACK_FAILED'
  | 'DELETE_COMPLETE'
  | 'DELETE_FAILED';

type Template = Pick<StackTextSettings, 'text' | 'parameters'>;

export interface CloudFormationSettings extends CustomResourcesSettings {
  /** What other stacks export, by name. */
  readonly imports?: ReadonlyMap<string, string>;
}

/** CloudFormation, for stacks of custom resources, application status checks and security groups. */
export class CloudFormation {
  readonly custom: CustomResources;
  readonly #settings: CloudFormationSettings;
  readonly #native: Readonly<Record<string, ResourceKind>>;

  constructor(settings: CloudFormationSettings) {
    this.#settings = settings;
    this.custom = new CustomResources(settings);
    this.#native = nativeResources(settings.account);
  }

  /** @param id of a stack that is there already */
  stack(name: string, id?: string): SimulatedStack {
    const { account, imports = new Map() } = this.#settings;
    const { world } = account;
    const { partition, region, accountId } = world;
    const made = `arn:${partition}:cloudformation:${region}:${accountId}:stack/${name}/${uuid(world.random.fork(`stack ${name}`))}`;
    const identity = { name, id: id ?? made };
    return new SimulatedStack({
      identity,
      kindOf: type => this.#kindOf(type),
      read: template => readStackText({ world, stackName: name, stackId: identity.id, imports, ...template }),
    });
  }

  #kindOf(type: string): ResourceKind {
    const kind = isCustomResource(type) ? this.custom : this.#native[type];
    if (!kind) throw new Error(`the type ${type} is not implemented`);
    return kind;
  }
}

interface StackSettings {
  readonly identity: StackIdentity;
  readonly kindOf: (type: string) => ResourceKind;
  readonly read: (template: Template) => StackText;
}

/** Something that has happened to a resource: `DELETE_FAILED Guard`. */
export interface StackEvent {
  readonly what: string;
  readonly reason: string | undefined;
}

interface Change {
  readonly from: Standing;
  readonly to: Standing;
}

/** One stack, as its owner creates, updates and deletes it. */
export class SimulatedStack {
  status: StackStatus = 'NONE';
  readonly identity: StackIdentity;
  readonly events: StackEvent[] = [];
  readonly #settings: StackSettings;
  readonly #resources = new Map<string, Standing>();
  readonly #needs = new Map<string, ReadonlySet<string>>();

  constructor(settings: StackSettings) {
    this.#settings = settings;
    this.identity = settings.identity;
  }

  /** @throws Error when there is no such resource */
  resource(logicalId: string): Standing {
    const found = this.#resources.get(logicalId);
    if (!found) throw new Error(`${this.identity.name} has no resource ${logicalId}`);
    return found;
  }

  get resources(): readonly string[] {
    return [...this.#resources.keys()];
  }

  /** Creates everything, or rolls back what was created. */
  async create(template: Template): Promise<StackStatus> {
    const text = this.#settings.read(template);
    this.#follow(text);
    try {
      await inOrder([...text.resources.keys()], this.#needsOf, id =>
        this.#create(text, this.#declared(text, id)),
      );
      this.status = 'CREATE_COMPLETE';
    } catch (error) {
      expected(error);
      this.status = (await this.#removeAll([...this.#resources.keys()]))
        ? 'ROLLBACK_COMPLETE'
        : 'ROLLBACK_FAILED';
    }
    return this.status;
  }

  /** Updates what differs; what was replaced or left out is deleted afterwards. A failure is rolled back the same way. */
  async update(template: Template): Promise<StackStatus> {
    const text = this.#settings.read(template);
    const before = new Set(this.#resources.keys());
    this.#follow(text);
    const changes: Change[] = [];
    const superseded: Standing[] = [];
    try {
      await inOrder([...text.resources.keys()], this.#needsOf, id =>
        this.#bring(text, this.#declared(text, id), changes),
      );
      for (const { from, to } of changes) if (from.physicalId !== to.physicalId) superseded.push(from);
      this.status = 'UPDATE_COMPLETE';
    } catch (error) {
      expected(error);
      this.status = 'UPDATE_ROLLBACK_COMPLETE';
      for (const change of changes.toReversed()) superseded.push(...(await this.#bringBack(change)));
    }
    await this.#removeStandings(superseded);
    const kept = this.status === 'UPDATE_COMPLETE' ? text.resources : before;
    await this.#removeAll([...this.#resources.keys()].filter(id => !kept.has(id)));
    return this.status;
  }

  /** Deletes everything, or stops at what cannot be deleted; it may be tried again. */
  async delete(): Promise<StackStatus> {
    this.status = (await this.#removeAll([...this.#resources.keys()])) ? 'DELETE_COMPLETE' : 'DELETE_FAILED';
    return this.status;
  }

  #follow({ resources }: StackText): void {
    for (const [id, { needs }] of resources) this.#needs.set(id, needs);
  }

  #needsOf = (logicalId: string): Iterable<string> => this.#needs.get(logicalId) ?? [];

  #declared({ resources }: StackText, logicalId: string): Declared {
    const declared = resources.get(logicalId);
    if (!declared) throw new Error(`the template has no ${logicalId}`);
    return declared;
  }

  #properties(text: StackText, declared: Declared) {
    return text.resolve(declared, {
      ref: logicalId => this.resource(logicalId).physicalId,
      attribute: (logicalId, attribute) => {
        const value = this.resource(logicalId).attributes[attribute];
        if (value === undefined) throw new Error(`${logicalId} has no attribute ${attribute}`);
        return value;
      },
    });
  }

  async #create(text: StackText, declared: Declared): Promise<void> {
    const { logicalId, type } = declared;
    const wanted = { logicalId, type, properties: this.#properties(text, declared) };
    const { identity } = this.#settings;
    try {
      const made = await this.#settings.kindOf(type).create(wanted, identity);
      this.#resources.set(logicalId, { ...wanted, ...made });
      this.#say(`CREATE_COMPLETE ${logicalId}`);
    } catch (error) {
      const failed = expected(error);
      this.#say(`CREATE_FAILED ${logicalId}`, failed.message);
      // Something may be there all the same: a custom resource is asked to delete it, under a made-up id if it named none.
      const physicalId = failed.physicalId ?? `${identity.name}-${logicalId}-1ABCDEFGHIJKL`;
      if (type.startsWith('Custom::'))
        this.#resources.set(logicalId, { ...wanted, physicalId, attributes: {} });
      throw error;
    }
  }

  async #bring(text: StackText, declared: Declared, changes: Change[]): Promise<void> {
    const { logicalId, type } = declared;
    const from = this.#resources.get(logicalId);
    if (!from) return this.#create(text, declared);
    const properties = this.#properties(text, declared);
    if (JSON.stringify(properties) === JSON.stringify(from.properties)) return;
    try {
      const made = await this.#settings.kindOf(type).update(from, properties, this.identity);
      const to = { ...from, properties, ...made };
      changes.push({ from, to });
      this.#resources.set(logicalId, to);
      this.#say(`UPDATE_COMPLETE ${logicalId}`);
    } catch (error) {
      this.#say(`UPDATE_FAILED ${logicalId}`, expected(error).message);
      // It may have been changed in part.
      changes.push({ from, to: { ...from, properties } });
      throw error;
    }
  }

  /** @returns what the rolled back update had put in its place */
  async #bringBack({ from, to }: Change): Promise<readonly Standing[]> {
    try {
      const made = await this.#settings.kindOf(from.type).update(to, from.properties, this.identity);
      this.#resources.set(from.logicalId, { ...from, ...made });
      this.#say(`ROLLBACK_COMPLETE ${from.logicalId}`);
      return made.physicalId === to.physicalId ? [] : [to];
    } catch (error) {
      this.status = 'UPDATE_ROLLBACK_FAILED';
      this.#say(`ROLLBACK_FAILED ${from.logicalId}`, expected(error).message);
      return [];
    }
  }

  /** Those that need another one first. @returns whether all are gone */
  async #removeAll(logicalIds: readonly string[]): Promise<boolean> {
    const neededBy = (id: string) => logicalIds.filter(other => this.#needs.get(other)?.has(id));
    try {
      await inOrder(logicalIds, neededBy, async id => {
        await this.#remove(this.resource(id));
        this.#resources.delete(id);
      });
      return true;
    } catch (error) {
      expected(error);
      return false;
    }
  }

  /** What fails here is left behind: the stack is updated already. */
  async #removeStandings(standings: readonly Standing[]): Promise<void> {
    for (const standing of standings) await this.#remove(standing).catch(expected);
  }

  async #remove(standing: Standing): Promise<void> {
    const { logicalId, type } = standing;
    try {
      await this.#settings.kindOf(type).remove(standing, this.identity);
      this.#say(`DELETE_COMPLETE ${logicalId}`);
    } catch (error) {
      this.#say(`DELETE_FAILED ${logicalId}`, expected(error).message);
      throw error;
    }
  }

  #say(what: string, reason?: string): void {
    this.events.push({ what, reason });
  }
}

/** @throws what is no failure of a resource */
function expected(error: unknown): ResourceFailed {
  if (error instanceof ResourceFailed) return error;
  throw error;
}
