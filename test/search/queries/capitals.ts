import { answer, code, type Scene } from '../corpus/planted.ts'

/** Names whose capitals do not begin a part. In lower case they are split differently. */
export const capitals: readonly Scene[] = [
  {
    docs: {
      humps: code('ts', 'src/auth/rotate.ts', 'export class OAuthRefreshToken {}'),
      snake: answer('The column is called `oauth_refresh_token`.'),
      near: 'The auth refresh button is a token gesture.',
    },
    asks: [
      { q: 'OAuthRefreshToken', want: 'humps snake', never: 'near' },
      { q: 'oauth_refresh_token', want: 'humps snake', never: 'near' },
      { q: 'oauthRefreshToken', want: 'humps snake', never: 'near' },
    ],
  },
  {
    docs: {
      humps: 'GraphQLResolverMap is frozen too late.',
      snake: code('py', 'gql/resolvers.py', 'graphql_resolver_map = {}'),
      near: 'The graph has a resolver map of its own.',
    },
    asks: [
      { q: 'GraphQLResolverMap', want: 'humps snake', never: 'near' },
      { q: 'graphql_resolver_map', want: 'humps snake', never: 'near' },
      { q: 'graphqlResolverMap', want: 'humps snake', never: 'near' },
    ],
  },
  {
    docs: {
      humps: 'isIPv6Loopback says no to ::1%eth0.',
      snake: answer('In C it is `is_ipv6_loopback`.'),
      near: 'isIPv4Loopback is right.',
    },
    asks: [
      { q: 'IPv6Loopback', want: 'humps snake', never: 'near' },
      { q: 'ipv6_loopback', want: 'humps snake', never: 'near' },
      { q: 'is-ipv6-loopback', want: 'humps snake', never: 'near' },
    ],
  },
  {
    docs: {
      humps: code('swift', 'App/Build.swift', 'let macOSDeploymentTarget = "13.0"'),
      snake: answer('Fastlane wants macos_deployment_target instead.'),
      near: 'A mac has no OS deployment in the target list.',
    },
    asks: [
      { q: 'macOSDeploymentTarget', want: 'humps snake', never: 'near' },
      { q: 'macos_deployment_target', want: 'humps snake', never: 'near' },
      { q: 'macosDeploymentTarget', want: 'humps snake', never: 'near' },
    ],
  },
]
