import type { Plugin } from 'esbuild';

/**
 * Leaves the environment as the only source of credentials: Lambda gives a function its role's credentials there and
 * nowhere else. The SDK's chain asks it first anyway, and brings SSO, STS and more with it (120 KB a function).
 */
export const environmentCredentials: Plugin = {
  name: 'environment-credentials',
  setup(build) {
    build.onLoad({ filter: /[\\/]credential-provider-node[\\/]dist-es[\\/]index\.js$/ }, () => ({
      contents: "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';",
    }));
  },
};
