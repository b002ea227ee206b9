import type { Random } from '../clock/random.ts';
import { ServiceError } from '../wire/contract.ts';
import type { CheckSettings } from './check-settings.ts';
import type { Instance } from './neighbours.ts';
import { resourceId } from './resource-id.ts';
import type { World } from './world.ts';

/** UG: the account's quotas. A target is an instance under a check; an association is a tag or an instance ID. */
export interface CheckQuotas {
  readonly checks: number;
  readonly associationsPerCheck: number;
  readonly associations: number;
  readonly targets: number;
}

export const documentedQuotas: CheckQuotas = {
  checks: 50,
  associationsPerCheck: 50,
  associations: 200,
  targets: 5_000,
};

/** The deletion grace period is not documented; INF. */
const DELETED_VISIBLE_MS = 3_600_000;

export type Association =
  | { readonly type: 'tag'; readonly key: string; readonly value: string }
  | { readonly type: 'instance-id'; readonly instanceId: string };

export interface StatusCheck {
  readonly id: string;
  readonly settings: CheckSettings;
  readonly tags: ReadonlyMap<string, string>;
  readonly associations: ReadonlyMap<string, Association>;
  readonly createdAt: number;
  readonly modifiedAt: number | undefined;
  readonly deletedAt: number | undefined;
}

interface MutableCheck extends StatusCheck {
  settings: CheckSettings;
  modifiedAt: number | undefined;
  deletedAt: number | undefined;
  readonly tags: Map<string, string>;
  readonly associations: Map<string, Association>;
}

/** `key=value`, or the instance's ID: what the API calls an AssociationValue. */
export const associationValue = (association: Association): string =>
  association.type === 'tag' ? `${association.key}=${association.value}` : association.instanceId;

const keyOf = (association: Association): string => `${association.type} ${associationValue(association)}`;

/** The account's application status checks and what each is associated with. */
export class CheckRegistry {
  readonly #world: World;
  readonly #random: Random;
  readonly #quotas: CheckQuotas;
  readonly #checks = new Map<string, MutableCheck>();

  constructor(world: World, quotas: CheckQuotas) {
    this.#world = world;
    this.#random = world.random.fork('application-status-checks');
    this.#quotas = quotas;
  }

  /** Deleted ones too, for as long as they are visible. */
  all(): Iterable<StatusCheck> {
    return this.#checks.values();
  }

  active(): readonly StatusCheck[] {
    return [...this.#checks.values()].filter(({ deletedAt }) => deletedAt === undefined);
  }

  /** @throws ServiceError InvalidApplicationStatusCheckId.NotFound, the code that emulators guess: AWS documents none */
  get(id: string | undefined): StatusCheck {
    return this.#active(id);
  }

  /** @throws ServiceError ApplicationStatusCheckLimitExceeded (a guess too) */
  create(settings: CheckSettings, tags: ReadonlyMap<string, string>): StatusCheck {
    if (this.active().length >= this.#quotas.checks)
      throw new ServiceError(
        'ApplicationStatusCheckLimitExceeded',
        `The account has reached its limit of ${this.#quotas.checks} application status checks.`,
      );
    const check: MutableCheck = {
      id: resourceId('asc', this.#random),
      settings,
      tags: new Map(tags),
      associations: new Map(),
      createdAt: this.#world.clock.now(),
      modifiedAt: undefined,
      deletedAt: undefined,
    };
    this.#checks.set(check.id, check);
    return check;
  }

  modify(id: string, settings: CheckSettings): StatusCheck {
    const check = this.#active(id);
    const { aggregation } = settings;
    if (aggregation !== check.settings.aggregation)
      this.#world.journal.record({ type: 'aggregation', checkId: id, aggregation });
    check.settings = settings;
    check.modifiedAt = this.#world.clock.now();
    return check;
  }

  /** Its associations go with it. */
  delete(id: string): StatusCheck {
    const check = this.#active(id);
    check.deletedAt = this.#world.clock.now();
    check.associations.clear();
    this.#world.clock.after(DELETED_VISIBLE_MS, () => this.#checks.delete(id));
    return check;
  }

  /** @returns whether there is such a check */
  tag(id: string, tags: Readonly<Record<string, string>>): boolean {
    const check = this.#checks.get(id);
    for (const [key, value] of Object.entries(tags)) check?.tags.set(key, value);
    return check !== undefined;
  }

  /** @returns the reason of a failure */
  associate(id: string, association: Association): string | undefined {
    const { associations } = this.#active(id);
    if (associations.has(keyOf(association))) return 'The application status check is already associated.';
    if (associations.size >= this.#quotas.associationsPerCheck)
      return `The application status check has reached its limit of ${this.#quotas.associationsPerCheck} associations.`;
    const total = this.active().reduce((sum, check) => sum + check.associations.size, 0);
    if (total >= this.#quotas.associations)
      return `The account has reached its limit of ${this.#quotas.associations} associations.`;
    associations.set(keyOf(association), association);
    return undefined;
  }

  /** @returns the reason of a failure */
  disassociate(id: string, association: Association): string | undefined {
    return this.#active(id).associations.delete(keyOf(association))
      ? undefined
      : 'The application status check is not associated.';
  }

  /** The checks that apply to an instance: by its ID or by any of its tags, system tags included. */
  applyingTo(instance: Instance): readonly StatusCheck[] {
    return this.active().filter(({ associations }) => {
      if (associations.has(keyOf({ type: 'instance-id', instanceId: instance.id }))) return true;
      for (const [key, value] of instance.tags)
        if (associations.has(keyOf({ type: 'tag', key, value }))) return true;
      return false;
    });
  }

  #active(id: string | undefined): MutableCheck {
    const check = id === undefined ? undefined : this.#checks.get(id);
    if (!check || check.deletedAt !== undefined)
      throw new ServiceError(
        'InvalidApplicationStatusCheckId.NotFound',
        `The application status check ID '${id}' does not exist`,
      );
    return check;
  }
}
