import { expect, test } from 'vitest'
import { normaliseRemote } from '../../src/hub/project-names.ts'

test.each([
  ['git@github.com:acme/app.git', 'github.com/acme/app'],
  ['https://github.com/acme/app', 'github.com/acme/app'],
  ['https://ada:secret@GitHub.com/acme/app.git/', 'github.com/acme/app'],
  ['ssh://git@github.com:22/acme/app.git', 'github.com/acme/app'],
  ['https://host/acme/app?token=secret', 'host/acme/app'],
  ['file:///srv/git/app.git', null],
  ['/srv/git/app.git', null],
  ['../app', null],
  ['C:\\git\\app', null],
])('the remote %s is %j', (url, name) => {
  expect(normaliseRemote(url)).toBe(name)
})
