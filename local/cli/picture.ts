import { styleText } from 'node:util';

/** `process.stderr`, when it is a terminal. */
export type Terminal = NodeJS.WritableStream & { readonly columns: number; readonly rows: number };

/** A piece of a line; its style is left out where the terminal or NO_COLOR asks for none. */
export interface Span {
  readonly text: string;
  readonly style?: 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';
}

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const UP = (lines: number) => `\r\x1b[${lines}A`;
const CLEAR_BELOW = '\x1b[J';

/** A few lines at the bottom of a terminal that are drawn again in place, until `close`. */
export class Picture {
  readonly #terminal: Terminal;
  #lines: readonly (readonly Span[])[] = [];
  #drawn = 0;
  #open = true;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    terminal.write(HIDE_CURSOR);
    // However the process ends, the person gets the cursor back.
    process.on('exit', this.#leave);
    process.on('SIGINT', interrupt);
    process.on('SIGTERM', terminate);
  }

  /** Lines are cut to the terminal's width, and left out beyond its height. */
  draw(lines: readonly (readonly Span[])[]): void {
    this.#lines = lines;
    const shown = lines.slice(0, Math.max(1, this.#terminal.rows - 1));
    const text = shown.map(line => `${this.#fit(line)}\n`).join('');
    this.#terminal.write(`${this.#up()}${text}`);
    this.#drawn = shown.length;
  }

  /** Lets `print` write whole lines that stay, above the picture. */
  above(print: () => void): void {
    this.#erase();
    print();
    this.draw(this.#lines);
  }

  close(): void {
    this.#leave();
    process.off('exit', this.#leave);
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', terminate);
  }

  readonly #leave = (): void => {
    if (!this.#open) return;
    this.#open = false;
    this.#erase();
    this.#terminal.write(SHOW_CURSOR);
  };

  #erase(): void {
    this.#terminal.write(this.#up());
    this.#drawn = 0;
  }

  #up(): string {
    return this.#drawn > 0 ? `${UP(this.#drawn)}${CLEAR_BELOW}` : '';
  }

  /** One column is left free: some terminals wrap a line that fills the last one. */
  #fit(line: readonly Span[]): string {
    let left = this.#terminal.columns - 1;
    return line
      .map(({ text, style }) => {
        const shown = text.slice(0, left);
        left -= shown.length;
        return style && shown ? styleText(style, shown, { stream: this.#terminal }) : shown;
      })
      .join('');
  }
}

// By the shells' convention, 128 and the number of the signal.
const interrupt = () => process.exit(128 + 2);
const terminate = () => process.exit(128 + 15);
