import { z } from 'zod';
import type { Metrics } from '../account/neighbours.ts';

/** CloudWatch's embedded metric format, as far as it says what to publish. */
const Envelope = z.looseObject({
  _aws: z.object({
    CloudWatchMetrics: z.array(
      z.object({
        Namespace: z.string(),
        Dimensions: z.array(z.array(z.string())),
        Metrics: z.array(z.object({ Name: z.string() })),
      }),
    ),
  }),
});

const Values = z.union([z.number().transform(value => [value]), z.array(z.number())]);

/** Publishes what a log line has in embedded metric format; other lines have nothing. @throws Error on a broken one */
export function publishEmbedded(line: string, metrics: Metrics): void {
  if (!line.startsWith('{"_aws"')) return;
  const record = Envelope.parse(JSON.parse(line));
  for (const { Namespace, Dimensions, Metrics: named } of record._aws.CloudWatchMetrics)
    for (const set of Dimensions) {
      const dimensions = Object.fromEntries(set.map(name => [name, String(record[name])]));
      for (const { Name } of named)
        for (const value of Values.parse(record[Name]))
          metrics.put({ namespace: Namespace, name: Name, value, dimensions });
    }
}
