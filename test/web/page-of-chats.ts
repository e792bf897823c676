import type { Browser } from 'playwright-core'
import { CursorHome } from '../helpers/cursor.ts'
import { RunningDaemon } from '../helpers/running-daemon.ts'
import { openBrowser } from './browser.ts'

/** A browser, and a daemon that has indexed a Cursor of its own. */
export class PageOfChats {
  readonly browser: Browser
  readonly daemon: RunningDaemon
  readonly #home: CursorHome

  private constructor(browser: Browser, daemon: RunningDaemon, home: CursorHome) {
    this.browser = browser
    this.daemon = daemon
    this.#home = home
  }

  /** @param fill writes the chats */
  static async open(fill: (home: CursorHome) => void): Promise<PageOfChats> {
    const home = new CursorHome()
    fill(home)
    home.close()
    const browser = await openBrowser()
    const daemon = await RunningDaemon.start({ userDirs: [home.userDir] })
    await daemon.waitReady()
    return new PageOfChats(browser, daemon, home)
  }

  async remove(): Promise<void> {
    await this.browser.close()
    await this.daemon.stop()
    this.#home.remove()
  }
}
