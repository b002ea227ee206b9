import { ServiceError } from '../wire/contract.ts';

/** A time series: one value a period, undefined where there is no data. */
export type Points = readonly (number | undefined)[];

/** What an expression reads. */
export interface MathScope {
  series(id: string): Points;
  /** What METRICS() stands for. */
  metrics(): readonly Points[];
}

export interface MathExpression {
  /** The ids that it names. */
  readonly ids: readonly string[];
  readonly usesMetrics: boolean;
  evaluate(scope: MathScope): Points;
}

type Value =
  | { readonly kind: 'scalar'; readonly value: number }
  | { readonly kind: 'series'; readonly points: Points }
  | { readonly kind: 'list'; readonly all: readonly Points[] };

type Term = (scope: MathScope) => Value;

type Combine = (a: number, b: number) => number;

/** By how tightly they bind. */
const OPERATORS: readonly Readonly<Record<string, Combine>>[] = [
  { '||': (a, b) => Number(a !== 0 || b !== 0), OR: (a, b) => Number(a !== 0 || b !== 0) },
  { '&&': (a, b) => Number(a !== 0 && b !== 0), AND: (a, b) => Number(a !== 0 && b !== 0) },
  {
    '<': (a, b) => Number(a < b),
    '<=': (a, b) => Number(a <= b),
    '>': (a, b) => Number(a > b),
    '>=': (a, b) => Number(a >= b),
    '==': (a, b) => Number(a === b),
    '!=': (a, b) => Number(a !== b),
  },
  { '+': (a, b) => a + b, '-': (a, b) => a - b },
  { '*': (a, b) => a * b, '/': (a, b) => a / b },
];

const AGGREGATES: Readonly<Record<string, (values: readonly number[]) => number>> = {
  AVG: values => values.reduce((a, b) => a + b, 0) / values.length,
  MAX: values => Math.max(...values),
  MIN: values => Math.min(...values),
  SUM: values => values.reduce((a, b) => a + b, 0),
};

const TOKEN = /\s*(\d+(?:\.\d+)?|[A-Za-z_]\w*|[<>=!]=|&&|\|\||[-+*/<>(),[\]])/y;

/**
 * Compiles a metric math expression: numbers, ids, operators, IF, FILL, AVG, MAX, MIN, SUM and METRICS().
 *
 * @throws ServiceError ValidationError on other functions, on syntax, and on a result that is no time series
 */
export function compileMath(text: string): MathExpression {
  const parser = new Parser(text);
  const term = parser.whole();
  const evaluate = (scope: MathScope): Points => {
    const value = term(scope);
    if (value.kind === 'series') return value.points;
    throw invalid(`'${text}' does not return a single time series`);
  };
  // Kinds do not depend on values, so one try with any finds an expression that returns no series.
  evaluate({ series: () => [0], metrics: () => [[0]] });
  return { ids: [...parser.ids], usesMetrics: parser.usesMetrics, evaluate };
}

const invalid = (message: string): ServiceError =>
  new ServiceError('ValidationError', `Error in expression: ${message}.`);

class Parser {
  readonly ids = new Set<string>();
  usesMetrics = false;
  readonly #text: string;
  readonly #tokens: readonly string[];
  #next = 0;

  constructor(text: string) {
    this.#text = text;
    const tokens: string[] = [];
    TOKEN.lastIndex = 0;
    const end = text.trimEnd().length;
    while (TOKEN.lastIndex < end) {
      const at = TOKEN.lastIndex;
      const token = TOKEN.exec(text)?.[1];
      if (token === undefined) throw invalid(`'${text.slice(at)}' is not understood`);
      tokens.push(token);
    }
    this.#tokens = tokens;
  }

  whole(): Term {
    const term = this.#binary(0);
    if (this.#next < this.#tokens.length) throw this.#unexpected();
    return term;
  }

  #binary(level: number): Term {
    const operators = OPERATORS[level];
    if (!operators) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const combine = operators[this.#tokens[this.#next] ?? ''];
      if (!combine) return left;
      this.#next++;
      const [a, b] = [left, this.#binary(level + 1)];
      left = scope => elementwise([a(scope), b(scope)], ([x = 0, y = 0]) => combine(x, y));
    }
  }

  #unary(): Term {
    if (!this.#accept('-')) return this.#primary();
    const term = this.#unary();
    return scope => elementwise([term(scope)], ([x = 0]) => -x);
  }

  #primary(): Term {
    const token = this.#tokens[this.#next++];
    if (token === undefined) throw invalid(`'${this.#text}' ends too early`);
    if (token === '(') {
      const inner = this.#binary(0);
      this.#expect(')');
      return inner;
    }
    if (token === '[') return this.#list();
    if (/^\d/.test(token)) return () => ({ kind: 'scalar', value: Number(token) });
    if (this.#tokens[this.#next] === '(') return this.#call(token);
    if (!/^[a-z]\w*$/.test(token)) throw invalid(`'${token}' is no id in '${this.#text}'`);
    this.ids.add(token);
    return scope => ({ kind: 'series', points: scope.series(token) });
  }

  #list(): Term {
    const terms = this.#separated(']');
    return scope => ({
      kind: 'list',
      all: terms.map(term => {
        const value = term(scope);
        if (value.kind !== 'series') throw invalid('a list holds time series only');
        return value.points;
      }),
    });
  }

  #call(name: string): Term {
    this.#expect('(');
    if (name === 'METRICS') {
      this.#expect(')');
      this.usesMetrics = true;
      return scope => ({ kind: 'list', all: scope.metrics() });
    }
    if (name === 'FILL') return this.#fill();
    const terms = this.#separated(')');
    const aggregate = AGGREGATES[name];
    const [first, second, third, ...more] = terms;
    if (aggregate && first && !second) return scope => aggregated(first(scope), aggregate);
    if (name === 'IF' && first && second && third && more.length === 0)
      return scope =>
        elementwise([first(scope), second(scope), third(scope)], ([condition, yes = 0, no = 0]) =>
          condition === 0 ? no : yes,
        );
    throw invalid(`the simulated CloudWatch has no ${name} with ${terms.length} arguments`);
  }

  #fill(): Term {
    const series = this.#binary(0);
    this.#expect(',');
    const repeats = this.#accept('REPEAT');
    const filler = repeats ? undefined : this.#binary(0);
    this.#expect(')');
    return scope => {
      const value = series(scope);
      if (value.kind !== 'series') throw invalid('FILL takes one time series');
      const instead = filler?.(scope);
      if (instead && instead.kind !== 'scalar') throw invalid('FILL takes a number or REPEAT');
      let last: number | undefined;
      const points = value.points.map(point => {
        last = point ?? last;
        return point ?? (instead ? instead.value : last);
      });
      return { kind: 'series', points };
    };
  }

  #separated(end: string): readonly Term[] {
    const terms: Term[] = [];
    do terms.push(this.#binary(0));
    while (this.#accept(','));
    this.#expect(end);
    return terms;
  }

  #accept(token: string): boolean {
    if (this.#tokens[this.#next] !== token) return false;
    this.#next++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#accept(token)) throw this.#unexpected();
  }

  #unexpected(): ServiceError {
    return invalid(`'${this.#tokens[this.#next] ?? 'the end'}' is not expected in '${this.#text}'`);
  }
}

/** A period is empty in the result when it is empty in any series. Numbers alone give a number. */
function elementwise(values: readonly Value[], combine: (operands: readonly number[]) => number): Value {
  const series = values.flatMap(value => (value.kind === 'series' ? [value.points] : []));
  if (values.some(({ kind }) => kind === 'list')) throw invalid('a list has to be aggregated first');
  const at = (index: number): number | undefined => {
    const operands = values.flatMap(value => {
      const operand =
        value.kind === 'scalar' ? value.value : value.kind === 'series' ? value.points[index] : [];
      return operand ?? [];
    });
    return operands.length === values.length ? finite(combine(operands)) : undefined;
  };
  const [first] = series;
  if (first) return { kind: 'series', points: first.map((_, index) => at(index)) };
  return { kind: 'scalar', value: at(0) ?? 0 };
}

/** A list becomes a series of what each period holds, a series the number of all its periods. */
function aggregated(value: Value, aggregate: (values: readonly number[]) => number): Value {
  const of = (points: Points): number | undefined => {
    const real = points.filter(point => point !== undefined);
    return real.length === 0 ? undefined : aggregate(real);
  };
  switch (value.kind) {
    case 'scalar':
      throw invalid('a number cannot be aggregated');
    case 'series':
      return { kind: 'scalar', value: of(value.points) ?? 0 };
    case 'list': {
      const [first = []] = value.all;
      return { kind: 'series', points: first.map((_, index) => of(value.all.map(points => points[index]))) };
    }
  }
}

/** Dividing by zero gives no data point. */
const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined);
