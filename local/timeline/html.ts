/** Text that is HTML already. Only `html` makes it, so that nothing unescaped gets into a page. */
class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type { Html };

type Part = string | number | Html | undefined | false | readonly Part[];

/** A template of HTML: every value is escaped, for text and for quoted attributes, unless it is HTML itself. */
export function html(literals: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(
    literals.map((literal, index) => (index === 0 ? literal : textOf(values[index - 1]) + literal)).join(''),
  );
}

function textOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  return String(part).replace(/[&<>"']/g, char => ENTITIES[char] ?? char);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** The page's own style sheet or script, as it is. @throws Error when it would end its element early */
export function verbatim(text: string): Html {
  if (/<\/(style|script)|<!--/i.test(text))
    throw new Error('A style sheet or script must not end its own element.');
  return new Html(text);
}
