/** The agent reports the last lines of its scripts' output, as far as they fit into so many characters. */
const REPORTED_CHARACTERS = 2048;

/** What the scripts of one lifecycle event have written. */
export class ScriptLog {
  readonly #entries: string[] = [];
  #told = 0;
  readonly #hear: (entry: string) => void;

  constructor(hear: (entry: string) => void) {
    this.#hear = hear;
  }

  append(entry: string): void {
    this.#entries.push(entry);
  }

  /** Lets the listener hear what it has not heard yet. */
  tell(): void {
    for (const entry of this.#entries.slice(this.#told)) this.#hear(entry);
    this.#told = this.#entries.length;
  }

  /** Takes the output of a stream, in chunks, and appends it line by line. The function returned takes what is left. */
  stream(prefix: '[stdout]' | '[stderr]'): {
    readonly take: (chunk: string) => void;
    readonly end: () => void;
  } {
    let rest = '';
    return {
      take: chunk => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) this.append(`${prefix}${line}`);
      },
      end: () => {
        if (rest) this.append(`${prefix}${rest}`);
        rest = '';
      },
    };
  }

  get tail(): string {
    let room = REPORTED_CHARACTERS;
    const first = this.#entries.findLastIndex(entry => {
      room -= entry.length + 1;
      return room < 0;
    });
    return this.#entries
      .slice(first + 1)
      .map(entry => `${entry}\n`)
      .join('');
  }
}
