"""The start of a script that reads bars over letters and the cards of heads."""

READ_LETTERS = """
  const chart = el.querySelector(".cw-l-bars svg");
  const numberOf = (e, name) => Number(e.getAttribute(name));
  const boxes = (selector) => {
    const path = chart.querySelector(selector).getAttribute("d");
    return [...path.matchAll(/M(\\S+) (\\S+)h(\\S+)v(\\S+)h\\S+z/g)].map((found) => {
      const [x, y, width, height] = found.slice(1).map(Number);
      return { at: [x + width / 2, y], height: -height };
    });
  };
  const near = (at) => (other) => Math.hypot(at[0] - other.at[0], at[1] - other.at[1]) < 0.1;
  const heightAt = (at, shown) => shown.find(near(at))?.height ?? 0;
  const ring = chart.querySelector(".cw-l-ring");
  const middle = numberOf(ring, "x") + numberOf(ring, "width") / 2;
  const ringed = [middle, numberOf(ring, "y") + numberOf(ring, "height") - 24 + 2];
  const ticks = [...chart.querySelectorAll("g .cw-l-small")];
  const nothing = ticks.find((tick) => tick.textContent === "0");
  const top = ticks.find((tick) => tick.textContent !== "0");
  const scale = numberOf(nothing, "y") - numberOf(top, "y");
  const kinds = [".cw-l-fill", ".cw-l-outline:not(.cw-l-cut)", ".cw-l-outline.cw-l-cut"];
  const [filled, kept, cut] = kinds.map(boxes);
  const columns = [...chart.querySelectorAll(":scope > text:not(.cw-l-small)")].map((label) => {
    const [x, y] = label.getAttribute("transform").match(/-?\\d[\\d.]*/g).map(Number);
    const at = [x, y - 16];
    return {
      name: label.textContent,
      at,
      scale,
      cut: label.classList.contains("cw-l-cut"),
      chosen: label.classList.contains("cw-l-chosen"),
      fill: heightAt(at, filled),
      outline: heightAt(at, label.classList.contains("cw-l-cut") ? cut : kept),
      ring: near(ringed)({ at }),
    };
  });
  const bars = {
    columns,
    top: Number(top.textContent),
  };
  const cards = [...el.querySelectorAll(".cw-l-card")].map((card) => ({
    most: card.querySelector("strong").textContent,
    letters: [...card.querySelectorAll("span")].map((e) => e.textContent),
    weights: [...card.querySelectorAll("span")].map((e) => e.style.getPropertyValue("--weight")),
  }));
"""
