/** Runs in a process of its own: imports the module whose URL is its argument, and tells its parent what came of it. */
const [url = ''] = process.argv.slice(2);
const begunAt = performance.now();
try {
  const module: Readonly<Record<string, unknown>> = await import(url);
  const milliseconds = performance.now() - begunAt;
  const functions = Object.keys(module).filter(name => typeof module[name] === 'function');
  process.send?.({ milliseconds, functions });
} catch (error) {
  process.send?.({ failure: String(error) });
}
