import { LineCounter, type ParsedNode, parseDocument } from 'yaml';
import { type Fault, sentenceOf } from '../functions/core/faults.ts';

/** Says each fault of what a YAML or JSON file holds, in the file's order, a line a fault: `file:line: field: what is wrong`. */
export function locateFaults(
  text: string,
  file: string,
  faults: readonly Fault[],
  whole: string,
): readonly string[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  return faults
    .map(fault => ({
      line: lines.linePos(startOf(document, fault.path)).line,
      said: sentenceOf(fault, whole),
    }))
    .toSorted((a, b) => a.line - b.line)
    .map(({ line, said }) => `${file}:${line}: ${said}`);
}

/** Where the deepest part of the path begins that the file has. */
function startOf(document: ReturnType<typeof parseDocument<ParsedNode>>, path: Fault['path']): number {
  for (let depth = path.length; depth > 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true);
    const range = node && typeof node === 'object' && 'range' in node ? node.range : undefined;
    if (Array.isArray(range)) return Number(range[0]);
  }
  return 0;
}
