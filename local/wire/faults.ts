import type { ServiceError } from './contract.ts';
import type { ErrorShape, Structure } from './shapes.ts';

/** An error as the wire carries it. */
export interface Fault {
  /** What AWS Query sends as `Code`, for example `TargetGroupNotFound`. */
  readonly wireCode: string;
  /** What AWS JSON sends as `__type` and the SDK names its exception, for example `TargetGroupNotFoundException`. */
  readonly name: string;
  readonly status: number;
  readonly type: 'Sender' | 'Receiver';
  readonly message: string;
  /** The shape of `members`; undefined for an error that the client does not model. */
  readonly shape: Structure | undefined;
  readonly members: Readonly<Record<string, unknown>>;
}

interface ModeledError {
  readonly name: string;
  readonly wireCode: string;
  readonly status: number;
  readonly shape: Structure;
}

/** How errors of one client look on the wire, whether they are thrown by their wire code or by the exception's name. */
export class Faults {
  readonly #byCode = new Map<string, ModeledError>();

  constructor(errors: readonly ErrorShape[]) {
    const modeled = errors.map(({ name, shape, schema }): ModeledError => {
      const { awsQueryError, httpError, error } = schema.getMergedTraits();
      const [wireCode, queryStatus] = Array.isArray(awsQueryError) ? awsQueryError : [];
      const status = [queryStatus, httpError].find(candidate => typeof candidate === 'number');
      // Smithy's defaults for an error without a status of its own.
      return { name, wireCode: wireCode ?? name, status: status ?? (error === 'server' ? 500 : 400), shape };
    });
    for (const error of modeled) this.#byCode.set(error.wireCode, error);
    for (const error of modeled) this.#byCode.set(error.name, error);
  }

  /** @throws Error when the error has members that its client does not model */
  of({ code, message, status, members }: ServiceError): Fault {
    const modeled = this.#byCode.get(code);
    if (!modeled && Object.keys(members).length > 0)
      throw new Error(`the error ${code} has no modeled members`);
    const {
      wireCode,
      name,
      shape,
      status: answered,
    } = modeled ?? { wireCode: code, name: code, shape: undefined, status };
    return {
      wireCode,
      name,
      shape,
      status: answered,
      type: answered < 500 ? 'Sender' : 'Receiver',
      message,
      members,
    };
  }
}
