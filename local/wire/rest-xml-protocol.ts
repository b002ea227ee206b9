import { XmlCodec } from '@aws-sdk/core/protocols';
import { FromStringShapeDeserializer, ToStringShapeSerializer } from '@smithy/core/protocols';
import { NormalizedSchema } from '@smithy/core/schema';
import type { $SchemaRef, StaticOperationSchema } from '@smithy/types';
import type { RestRequest, Service, WireAnswer } from './contract.ts';
import type { Faults } from './faults.ts';
import type { Protocol } from './protocol.ts';
import { InvalidInput } from './shapes.ts';
import { element, escapeXml } from './xml.ts';

/** How one operation is asked for and answered over HTTP, from the traits of its schema. */
interface Route {
  readonly action: string;
  readonly method: string;
  /** Is it about an object, rather than its bucket? */
  readonly hasKey: boolean;
  /** Query parameters by which it is told from others, such as `policy`. */
  readonly literals: readonly (readonly [name: string, value: string])[];
  readonly parameters: ReadonlySet<string>;
  readonly input: NormalizedSchema;
  readonly output: NormalizedSchema;
  readonly status: number;
}

/** Timestamps as their members say, else as in HTTP's headers there, and by ISO 8601 in XML. */
const settings = { timestampFormat: { useTrait: true, default: 5 }, httpBindings: true } as const;

/** Sent with every operation by AWS's own clients, for logs: others leave it out. */
const OPERATION_ID = 'x-id';

/** REST XML, as far as S3 speaks it: labels are its bucket and its key. */
export class RestXmlProtocol implements Protocol {
  readonly invalidInputCodes = {
    unknown: 'InvalidArgument',
    missing: 'InvalidRequest',
    malformed: 'MalformedXML',
  } as const;
  readonly unknownActionCode = 'NotImplemented';
  readonly #faults: Faults;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #codec: XmlCodec;

  constructor(faults: Faults, { client, operations }: Service) {
    this.#faults = faults;
    const routes = Object.keys(operations).map(action => routeOf(action, Reflect.get(client, `${action}$`)));
    this.#routes = new Map(routes.map(route => [route.action, route]));
    this.#codec = new XmlCodec({
      ...settings,
      xmlNamespace: 'http://s3.amazonaws.com/doc/2006-03-01/',
      serviceNamespace: 'com.amazonaws.s3',
    });
  }

  /** The operation that a request asks for; undefined when the service does not have it. */
  actionOf(request: RestRequest): string | undefined {
    const { key } = placeOf(request);
    const asked = Object.keys(request.query).filter(name => name !== OPERATION_ID);
    return [...this.#routes.values()]
      .filter(
        ({ method, hasKey, literals, parameters }) =>
          method === request.method &&
          hasKey === (key !== '') &&
          literals.every(([name, value]) => request.query[name] === value) &&
          asked.every(name => parameters.has(name) || literals.some(([literal]) => literal === name)),
      )
      .toSorted((a, b) => b.literals.length - a.literals.length)[0]?.action;
  }

  readInput({ action }: { readonly action: string }, request: { readonly rest?: RestRequest }) {
    const { rest } = request;
    if (!rest) throw new InvalidInput('malformed', `${action} is no POST.`);
    const input: Record<string, unknown> = {};
    for (const [name, schema] of this.#route(action).input.structIterator()) {
      const value = this.#read(name, schema, rest);
      if (value !== undefined) input[name] = value;
    }
    return input;
  }

  answer({ action }: { readonly action: string }, output: object, requestId: string): WireAnswer {
    const { output: shape, status } = this.#route(action);
    const headers: Record<string, string> = { 'x-amz-request-id': requestId };
    const inBody: Record<string, unknown> = {};
    let body: string | Uint8Array | undefined;
    for (const [name, schema] of shape.structIterator()) {
      const value: unknown = Reflect.get(output, name);
      if (value === undefined) continue;
      const { httpHeader, httpPayload } = schema.getMergedTraits();
      if (httpHeader) headers[httpHeader.toLowerCase()] = written(schema, value);
      else if (!httpPayload) inBody[name] = value;
      else if (value instanceof Uint8Array || typeof value === 'string') body = value;
      else body = this.#xml(schema, value);
    }
    if (body === undefined && Object.keys(inBody).length > 0) body = this.#xml(shape, inBody);
    return { status, headers, body: body ?? '' };
  }

  fault(...[error, request, requestId]: Parameters<Protocol['fault']>): WireAnswer {
    const { wireCode, message, status } = this.#faults.of(error);
    const inner = element('Code', escapeXml(wireCode)) + element('Message', escapeXml(message));
    return {
      status,
      headers: { 'content-type': 'application/xml', 'x-amz-request-id': requestId },
      // The answer to a HEAD has no body, an error's neither.
      body: request.rest?.method === 'HEAD' ? '' : element('Error', inner + element('RequestId', requestId)),
    };
  }

  #route(action: string): Route {
    const route = this.#routes.get(action);
    if (!route) throw new Error(`there is no route to ${action}`);
    return route;
  }

  #read(name: string, schema: NormalizedSchema, request: RestRequest): unknown {
    const { httpLabel, httpHeader, httpQuery, httpPayload } = schema.getMergedTraits();
    if (httpLabel) return name === 'Bucket' ? placeOf(request).bucket : placeOf(request).key;
    if (httpHeader) return read(schema, request.headers[httpHeader.toLowerCase()]);
    if (httpQuery) return read(schema, request.query[httpQuery]);
    if (!httpPayload || request.body.length === 0) return undefined;
    if (schema.isBlobSchema()) return request.body;
    const text = new TextDecoder().decode(request.body);
    return schema.isStringSchema() ? text : this.#parse(schema, text);
  }

  #parse(schema: NormalizedSchema, xml: string): unknown {
    try {
      return this.#codec.createDeserializer().read(schema, xml);
    } catch (error) {
      throw new InvalidInput('malformed', `The XML you provided was not well-formed: ${String(error)}`);
    }
  }

  #xml(schema: NormalizedSchema, value: unknown): string {
    const serializer = this.#codec.createSerializer();
    serializer.write(schema, value);
    return String(serializer.flush());
  }
}

/** Where a request goes: the bucket is in the host's name or first in the path. */
function placeOf({ host, path }: RestRequest): { readonly bucket: string; readonly key: string } {
  const decoded = decodeURIComponent(path).slice(1);
  const named = /^(.+)\.s3[.-]/.exec(host)?.[1];
  if (named !== undefined) return { bucket: named, key: decoded };
  const slash = decoded.indexOf('/');
  return slash < 0
    ? { bucket: decoded, key: '' }
    : { bucket: decoded.slice(0, slash), key: decoded.slice(slash + 1) };
}

function routeOf(action: string, operation: unknown): Route {
  if (!isOperation(operation)) throw new Error(`the client has no operation ${action}`);
  const [, , , traits, inputRef, outputRef] = operation;
  const [method = '', template = '', status = 200] =
    NormalizedSchema.of([0, '', '', traits, 0]).getMergedTraits().http ?? [];
  const [path = '', query = ''] = template.split('?');
  const input = schemaOf(inputRef);
  return {
    action,
    method,
    hasKey: path.includes('{Key+}'),
    literals: [...new URLSearchParams(query)].filter(([name]) => name !== OPERATION_ID),
    parameters: new Set(
      [...input.structIterator()].flatMap(([, schema]) => schema.getMergedTraits().httpQuery ?? []),
    ),
    input,
    output: schemaOf(outputRef),
    status,
  };
}

const isOperation = (value: unknown): value is StaticOperationSchema =>
  Array.isArray(value) && value[0] === 9;

const UNIT = NormalizedSchema.of([3, 'local', 'Unit', 0, [], []]);
const schemaOf = (ref: $SchemaRef): NormalizedSchema => {
  const schema = NormalizedSchema.of(ref);
  return schema.isUnitSchema() ? UNIT : schema;
};

const read = (schema: NormalizedSchema, value: string | undefined): unknown =>
  value === undefined ? undefined : new FromStringShapeDeserializer(settings).read(schema, value);

function written(schema: NormalizedSchema, value: unknown): string {
  const serializer = new ToStringShapeSerializer(settings);
  serializer.write(schema, value);
  return serializer.flush();
}
