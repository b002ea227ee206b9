const compiled = new Map<string, RegExp>();

/** IAM's wildcards: `*` is any run of characters, `?` any one character; the case counts. */
export function matchesWildcards(pattern: string, text: string): boolean {
  if (pattern === '*' || pattern === text) return true;
  if (!/[*?]/.test(pattern)) return false;
  const expression = compiled.get(pattern) ?? compile(pattern);
  // Patterns stand in the template, so there are few.
  compiled.set(pattern, expression);
  return expression.test(text);
}

function compile(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
}
