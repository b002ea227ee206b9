import type { Plugin } from 'esbuild';

/**
 * Leaves out what reads and writes event streams (15 KB). The SDK imports it when it meets an operation that streams events, and
 * no operation of the services that Quiesce calls does; one that did would end with this error. S3's client has one
 * (SelectObjectContent), so it prepares for it at once: that much goes through.
 */
export const noEventStreams: Plugin = {
  name: 'no-event-streams',
  setup(build) {
    build.onResolve({ filter: /^@smithy\/core\/event-streams$/ }, ({ path }) => ({
      path,
      namespace: 'left-out',
    }));
    build.onLoad({ filter: /./, namespace: 'left-out' }, ({ path }) => ({
      contents: `
        function leftOut() { throw new Error('${path} is left out of this bundle.'); }
        export { leftOut as EventStreamSerde, leftOut as eventStreamSerdeProvider };
        export const resolveEventStreamSerdeConfig = config => config;`,
    }));
  },
};
