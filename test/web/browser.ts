import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { waitUntil } from '../helpers/wait-until.ts'
import axe from 'axe-core'
import { parse } from 'csv-parse/sync'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** @throws if there is no Chromium: install Debian's package, or set CHROMIUM_PATH */
function chromiumPath(): string {
  const given = process.env['CHROMIUM_PATH']
  if (given !== undefined) return given
  const places = (process.env['PATH'] ?? '').split(delimiter)
  const found = places.flatMap((place) => NAMES.map((name) => join(place, name))).find((path) => existsSync(path))
  if (found === undefined) throw new Error('No Chromium on PATH. Run apt-get install chromium, or set CHROMIUM_PATH.')
  return found
}

// The sandbox of Chromium needs rights that a container usually lacks.
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] })

export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /** Policy reports, errors of scripts, and requests to other servers. */
  readonly faults: string[]
}

export interface VisitOptions {
  readonly width?: number
  readonly theme?: 'light' | 'dark'
}

// Scripts of the browser are text here: the types of Node know no document.
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) => {
  console.error('Content Security Policy: ' + event.violatedDirective + ' ' + event.blockedURI)
})`

/** A fresh tab whose faults are collected. */
export async function visit(
  browser: Browser,
  url: string,
  { width = 1200, theme = 'light' }: VisitOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: theme, baseURL: url })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML|TrustedScript/.test(message.text()))
      faults.push(`policy: ${message.text()}`)
  })
  page.on('request', (request) => {
    const address = request.url()
    if (!address.startsWith(url) && !/^(data|blob|file):/.test(address)) faults.push(`request: ${address}`)
  })
  await page.addInitScript(REPORT_VIOLATIONS)
  return { page, context, faults }
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
  }[]
}

/** What axe finds wrong on the page as it is now. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Over the debugging protocol, which the content policy does not apply to.
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResult>(`(async () => {
    // A bar that stays while one scrolls covers a part of whatever lies under it just now. axe would call that link too small.
    const bars = [...document.querySelectorAll('body *')].filter(
      (one) => /sticky|fixed/.test(getComputedStyle(one).position) && !one.matches(':popover-open'),
    )
    for (const bar of bars) bar.style.position = 'static'
    const found = await axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })
    for (const bar of bars) bar.style.position = ''
    return found
  })()`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary.slice(0, 200)}`),
  )
}

/** Waits until an expression is true in the page. The page's policy forbids the evaluation that Playwright's own wait uses. */
export const holds = (page: Page, expression: string): Promise<boolean> =>
  waitUntil(expression, () => page.evaluate<boolean>(`Boolean(${expression})`))

/** Saves the table with this title as CSV. @returns its rows, by the names of the columns */
export async function savedCsv(page: Page, title: string): Promise<Record<string, string>[]> {
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: `Download CSV: ${title}`, exact: true }).click()
  return parse(readFileSync(await (await saved).path()), { columns: true })
}

/** How many pixels the page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.body.offsetWidth')
