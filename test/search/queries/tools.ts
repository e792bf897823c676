import { answer, failedTool, tool, type Scene } from '../corpus/planted.ts'

/** A tool's name, input and output. */
export const tools: readonly Scene[] = [
  {
    docs: {
      called: tool('mcp_jira_get_issue', { key: 'PAPAYA-4711' }, { summary: 'Refunds are sent twice' }),
      said: 'Have a look at PAPAYA-4711.',
      near: tool('mcp_jira_get_issue', { key: 'PAPAYA-4712' }, { summary: 'Refunds are late' }),
      otherTool: tool('mcp_jira_add_comment', { key: 'PAPAYA-4711', body: 'Done.' }, { ok: true }),
    },
    asks: [
      { q: 'PAPAYA-4711', want: 'called said otherTool', never: 'near' },
      { q: 'tool:mcp_jira_get_issue PAPAYA-4711', want: 'called', never: 'said near otherTool' },
      { q: 'mcp_jira_add_comment PAPAYA', want: 'otherTool', never: 'said near' },
    ],
  },
  {
    docs: {
      input: tool(
        'run_terminal_cmd',
        { command: 'terraform apply -target=module.tamarind' },
        { output: 'Apply complete!' },
      ),
      output: tool('run_terminal_cmd', { command: 'terraform plan' }, { output: 'module.tamarind will be destroyed' }),
      said: answer('module.tamarind is the last one.'),
    },
    asks: [
      { q: 'terraform tamarind', want: 'input output', never: 'said' },
      { q: 'in:tool tamarind', want: 'input output', never: 'said' },
      { q: 'tool:run_terminal_cmd tamarind destroyed', want: 'output', never: 'input said' },
    ],
  },
  {
    docs: {
      search: tool(
        'web_search',
        { searchTerm: 'durian cold chain regulation' },
        { answer: 'Durians are kept at 4 degrees.' },
      ),
      said: 'Which regulation holds for the durian cold chain?',
      grep: tool('grep_search', { query: 'durian' }, { hits: ['src/durian.ts: export const cold = 4'] }),
    },
    asks: [
      { q: 'durian cold chain regulation', want: 'search said' },
      { q: 'tool:web_search durian', want: 'search', never: 'said grep' },
      { q: 'tool:grep_search durian', want: 'grep', never: 'said search' },
    ],
  },
  {
    docs: {
      failed: failedTool(
        'edit_file',
        { relativeWorkspacePath: 'src/kumquat.ts' },
        'The string to replace was not found in kumquat.ts',
      ),
      fine: tool('edit_file', { relativeWorkspacePath: 'src/kumquat.ts' }, { diff: 'ok' }),
      said: 'Is kumquat.ts done?',
    },
    asks: [
      { q: 'tool:edit_file kumquat', want: 'failed fine', never: 'said' },
      { q: 'has:error kumquat', want: 'failed', never: 'fine said' },
      { q: 'kumquat "string to replace was not found"', want: 'failed', never: 'fine said' },
    ],
  },
  {
    docs: {
      query: tool(
        'mcp_postgres_query',
        { sql: 'select lychee_id from crates where ripe' },
        { rows: [{ lychee_id: 'lych-88-q' }] },
      ),
      other: tool('mcp_postgres_query', { sql: 'select longan_id from crates where ripe' }, { rows: [] }),
      said: answer('lych-88-q is the crate in question.'),
    },
    asks: [
      { q: 'lycheeId crates', want: 'query', never: 'other said' },
      { q: 'lych-88-q', want: 'query said', never: 'other' },
      { q: 'tool:mcp_postgres_query ripe crates', want: 'query other', never: 'said' },
    ],
  },
  {
    docs: {
      listed: tool('list_dir', { relativeWorkspacePath: 'assets/rambutan' }, { files: ['peel.svg', 'seed.svg'] }),
      read: tool('read_file', { relativeWorkspacePath: 'assets/rambutan/peel.svg' }, { contents: '<svg/>' }),
      said: 'Draw a rambutan peel.',
    },
    asks: [
      { q: 'tool:list_dir rambutan', want: 'listed', never: 'read said' },
      { q: 'rambutan peel.svg', want: 'listed read', never: 'said' },
    ],
  },
]
