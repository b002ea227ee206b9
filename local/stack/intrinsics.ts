import { isList, isObject, type Json, type JsonObject } from './json.ts';
import type { ParameterValue } from './parameters.ts';

/** What resources are called; `from` is the resource that asks, for the order of creation. */
export interface Identities {
  /** @throws Error when the template has no such resource, or its condition is false */
  ref(logicalId: string, from: string): string;
  attribute(logicalId: string, attribute: string, from: string): string;
}

export interface IntrinsicsSettings {
  /** Parameters and pseudo parameters. */
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  readonly mappings: JsonObject;
  readonly conditions: JsonObject;
  readonly identities: Identities;
  /** What other stacks export, by name. */
  readonly imports?: ReadonlyMap<string, string>;
}

const NO_VALUE = 'AWS::NoValue';

/** Evaluates CloudFormation's intrinsic functions and conditions. */
export class Intrinsics {
  readonly #settings: IntrinsicsSettings;
  readonly #conditions = new Map<string, boolean | 'being evaluated'>();

  constructor(settings: IntrinsicsSettings) {
    this.#settings = settings;
  }

  /**
   * The value without intrinsics; undefined is AWS::NoValue, which removes the member that holds it.
   *
   * @throws Error, beginning with the asking resource's logical id, on what is unknown or not implemented
   */
  resolve(value: Json, from: string): Json | undefined {
    if (isList(value)) return value.flatMap(item => only(this.resolve(item, from)));
    if (!isObject(value)) return value;
    const [[name, argument] = ['', null], ...others] = Object.entries(value);
    if (others.length === 0 && (name === 'Ref' || name.startsWith('Fn::')))
      return this.#call(name, argument, from);
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, member]) => {
        const resolved = this.resolve(member, from);
        return resolved === undefined ? [] : [[key, resolved]];
      }),
    );
  }

  /** @throws Error when the template has no such condition */
  condition(name: string): boolean {
    const expression = this.#settings.conditions[name];
    const known = this.#conditions.get(name);
    if (expression === undefined) throw new Error(`the template has no condition ${name}`);
    if (known === 'being evaluated') throw new Error(`the condition ${name} refers to itself`);
    if (known !== undefined) return known;
    this.#conditions.set(name, 'being evaluated');
    const answer = this.#test(expression, `condition ${name}`);
    this.#conditions.set(name, answer);
    return answer;
  }

  #call(name: string, argument: Json, from: string): Json | undefined {
    switch (name) {
      case 'Ref':
        return this.#ref(string(argument, name, from), from);
      case 'Fn::GetAtt':
        return this.#attribute(isList(argument) ? argument.join('.') : string(argument, name, from), from);
      case 'Fn::Sub':
        return this.#substitute(argument, from);
      case 'Fn::If': {
        const [condition = '', yes = null, no = null] = list(argument, name, from, 3);
        return this.resolve(this.condition(string(condition, name, from)) ? yes : no, from);
      }
      case 'Fn::ImportValue': {
        const exported = this.#string(argument, name, from);
        const found = this.#settings.imports?.get(exported);
        if (found === undefined) throw new Error(`${from}: no stack exports ${exported}`);
        return found;
      }
      case 'Fn::Base64':
        return Buffer.from(this.#string(argument, name, from)).toString('base64');
      case 'Fn::Join': {
        const [separator = '', items = null] = list(argument, name, from, 2);
        return this.#list(items, name, from).join(string(separator, name, from));
      }
      case 'Fn::Split': {
        const [separator = '', text = ''] = list(argument, name, from, 2);
        return this.#string(text, name, from).split(string(separator, name, from));
      }
      case 'Fn::Select': {
        const [place = '', items = null] = list(argument, name, from, 2);
        const chosen = this.#list(items, name, from)[Number(this.#string(place, name, from))];
        if (chosen === undefined) throw new Error(`${from}: Fn::Select has no item ${place}`);
        return chosen;
      }
      case 'Fn::FindInMap': {
        const [map, top, second] = list(argument, name, from, 3).map(key => this.#string(key, name, from));
        const found = [map, top, second].reduce<Json | undefined>(
          (value, key) => (isObject(value) && key !== undefined ? value[key] : undefined),
          this.#settings.mappings,
        );
        if (found === undefined) throw new Error(`${from}: Fn::FindInMap finds no ${map}.${top}.${second}`);
        return found;
      }
      case 'Fn::Equals':
      case 'Fn::And':
      case 'Fn::Or':
      case 'Fn::Not':
        throw new Error(`${from}: ${name} belongs into Conditions`);
      default:
        throw new Error(`${from}: the intrinsic function ${name} is not implemented`);
    }
  }

  #test(expression: Json, from: string): boolean {
    const [[name, argument] = ['', null]] = isObject(expression) ? Object.entries(expression) : [];
    const operands = (): readonly boolean[] =>
      list(argument, name, from).map(operand => this.#test(operand, from));
    switch (name) {
      case 'Condition':
        return this.condition(string(argument, name, from));
      case 'Fn::Equals': {
        const [left, right] = list(argument, name, from, 2).map(side => this.#string(side, name, from));
        return left === right;
      }
      case 'Fn::And':
        return operands().every(Boolean);
      case 'Fn::Or':
        return operands().some(Boolean);
      case 'Fn::Not':
        return !operands()[0];
      default:
        throw new Error(`${from}: ${name || 'this value'} is no condition`);
    }
  }

  #ref(name: string, from: string): Json | undefined {
    if (name === NO_VALUE) return undefined;
    const value = this.#settings.parameters.get(name);
    if (value !== undefined) return value;
    if (name.startsWith('AWS::')) throw new Error(`${from}: the pseudo parameter ${name} is not implemented`);
    return this.#settings.identities.ref(name, from);
  }

  /** `Resource.Attribute`; an attribute may have dots itself. */
  #attribute(path: string, from: string): string {
    const dot = path.indexOf('.');
    if (dot < 1) throw new Error(`${from}: Fn::GetAtt ${path} names no attribute`);
    return this.#settings.identities.attribute(path.slice(0, dot), path.slice(dot + 1), from);
  }

  #substitute(argument: Json, from: string): string {
    const [text = '', variables = {}] = isList(argument) ? argument : [argument];
    if (!isObject(variables)) throw new Error(`${from}: the second part of Fn::Sub has to be a map`);
    return string(text, 'Fn::Sub', from).replace(/\$\{([^}]*)\}/g, (_, name: string) => {
      if (name.startsWith('!')) return `\${${name.slice(1)}}`;
      const variable = variables[name];
      if (variable !== undefined) return this.#string(variable, 'Fn::Sub', from);
      const value = this.#isReference(name) ? this.#ref(name, from) : this.#attribute(name, from);
      return scalar(value, `\${${name}} in Fn::Sub`, from);
    });
  }

  /** SAM's `Function.Version` and `Function.Alias` are references in spite of their dot. */
  #isReference(name: string): boolean {
    return !name.includes('.') || name.endsWith('.Version') || name.endsWith('.Alias');
  }

  #string(value: Json, name: string, from: string): string {
    return scalar(this.resolve(value, from), name, from);
  }

  #list(value: Json, name: string, from: string): readonly string[] {
    const resolved = this.resolve(value, from);
    if (!isList(resolved)) throw new Error(`${from}: ${name} needs a list`);
    return resolved.map(item => scalar(item, name, from));
  }
}

const only = (value: Json | undefined): readonly Json[] => (value === undefined ? [] : [value]);

function scalar(value: Json | undefined, name: string, from: string): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  throw new Error(`${from}: ${name} needs a string`);
}

function string(value: Json, name: string, from: string): string {
  if (typeof value === 'string') return value;
  throw new Error(`${from}: ${name} needs a literal string`);
}

function list(value: Json, name: string, from: string, length?: number): readonly Json[] {
  if (isList(value) && (length === undefined || value.length === length)) return value;
  throw new Error(`${from}: ${name} needs a list${length === undefined ? '' : ` of ${length}`}`);
}
