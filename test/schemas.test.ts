import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { publishedSchemas, scenarioPage, schemaOnDisk } from '../local/schemas.ts';

describe('the published JSON Schemas', () => {
  test.each(Object.entries(publishedSchemas))(
    '%s is what the code reads (npm run schemas writes it)',
    (name, text) => {
      expect(schemaOnDisk(name)).toBe(text);
    },
  );

  test('docs/scenarios.md tells every member of a scenario (npm run schemas writes it)', () => {
    const { onDisk, complete } = scenarioPage();
    expect(onDisk).toBe(complete);
    expect(onDisk).toContain(
      '| `fleet.targetGroups[].healthCheck.intervalSeconds` | whole number from 5 to 300 |',
    );
    expect(onDisk).toContain('| `rivals[].atSeconds` | number from 0 | required |');
  });

  test('know every member that a shipped scenario uses', () => {
    const known = JSON.parse(publishedSchemas['scenario.schema.json'] ?? '{}').properties;
    for (const file of readdirSync('scenarios'))
      for (const member of Object.keys(parse(readFileSync(`scenarios/${file}`, 'utf8'))))
        expect(known, `${member} of ${file}`).toHaveProperty(member);
  });
});
