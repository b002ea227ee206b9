/** Runs in a process of its own: imports the module whose URL is its argument, and tells its parent what that showed. */
const [url = ''] = process.argv.slice(2);
const begunAt = performance.now();
const module: Readonly<Record<string, unknown>> = await import(url);
const milliseconds = performance.now() - begunAt;
const functions = Object.keys(module).filter(name => typeof module[name] === 'function');
process.send?.({ milliseconds, functions });
