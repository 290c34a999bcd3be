// Light, dark, or as the system says. The choice is kept in this browser.
const key = "tuntas.theme";
export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

export function readTheme(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(key)) ?? "system";
  } catch {
    return "system";
  }
}

export function applyTheme(theme: Theme = readTheme()): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // A browser that keeps nothing keeps no theme either.
  }
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export const themeAfter = (theme: Theme): Theme => themes[(themes.indexOf(theme) + 1) % themes.length]!;
