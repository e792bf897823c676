import type { ProjectKey } from './script.ts'

export interface SampleProject {
  readonly uri: string
  /** Content of `workspace.json`. */
  readonly workspace: Readonly<Record<string, string>>
  readonly path: string
  /** A folder that was moved away and back has two of Cursor's workspaces. */
  readonly workspaces: number
}

const folder = (path: string, workspaces = 1): SampleProject => {
  const uri = `file://${path}`
  return { uri, workspace: { folder: uri }, path, workspaces }
}

const overSsh = (host: string, path: string): SampleProject => {
  const uri = `vscode-remote://ssh-remote%2B${host}${path}`
  return { uri, workspace: { folder: uri }, path, workspaces: 1 }
}

const severalRoots = (path: string): SampleProject => {
  const uri = `file://${path}`
  return { uri, workspace: { workspace: uri }, path, workspaces: 1 }
}

export const sampleProjects: Readonly<Record<ProjectKey, SampleProject>> = {
  shop: folder('/home/ada/code/shop', 2),
  'ledger-api': folder('/home/ada/code/ledger-api'),
  'fleet-gateway': overSsh('build-01', '/srv/fleet-gateway'),
  atlas: severalRoots('/home/ada/code/atlas/atlas.code-workspace'),
  thermostat: folder('/home/ada/code/thermostat'),
  'field-notes': folder('/home/ada/code/field-notes'),
}
