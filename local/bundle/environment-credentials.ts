import type { Plugin } from 'esbuild';

/**
 * Leaves the environment as the only source of credentials: Lambda puts those of the function's role there. The SDK's
 * chain of sources begins with it, and would add the clients of SSO and STS to every function (about 135 KB).
 */
export const environmentCredentials: Plugin = {
  name: 'environment-credentials',
  setup(build) {
    build.onLoad({ filter: /[\\/]credential-provider-node[\\/]dist-es[\\/]index\.js$/ }, () => ({
      contents: "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';",
    }));
  },
};
