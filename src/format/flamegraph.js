// SPDX-License-Identifier: MIT
// What a flame graph does in a browser. It draws from the tree that is in the file, not from the boxes
// there, which are for viewers without scripts: boxes too narrow to see come when something around them
// is zoomed into, so that any number of calling contexts can be looked at.
(function () {
	const WIDTH = 1200, ROW = 17, TOP = 48, LEAST = 0.3;
	const svg = document.documentElement;
	const id = name => document.getElementById(name);

	function add(parent, what, attributes) {
		const e = document.createElementNS("http://www.w3.org/2000/svg", what);
		for (const key in attributes)
			e.setAttribute(key, attributes[key]);
		return parent.appendChild(e);
	}

	// Parents stand before their children, which stand side by side in their order.
	const names = id("names").textContent.split("\n");
	const colours = id("colours").textContent.split(" ");
	const raw = id("nodes").textContent.trim().split(" ");
	const unit = svg.getAttribute("data-unit");
	const n = raw.length / 4;
	const parent = new Int32Array(n), depth = new Int32Array(n);
	const left = new Float64Array(n), share = new Float64Array(n), next = new Float64Array(n);
	for (let i = 0; i < n; i++) {
		const p = parent[i] = i - raw[4 * i];
		share[i] = raw[4 * i + 3] / raw[3];
		if (i > 0) {
			left[i] = next[i] = next[p];
			next[p] += share[i];
			depth[i] = depth[p] + 1;
		}
	}
	const name = i => names[raw[4 * i + 1]];
	const full = i => name(i) + ": " + raw[4 * i + 3] + (unit ? " " + unit : "") +
		" (" + (100 * share[i]).toFixed(2) + " %)";

	// Labels are measured in cells of the font, of which wide characters take two.
	const ruler = add(svg, "text", {});
	ruler.textContent = "0".repeat(100);
	const cell = ruler.getComputedTextLength() / 100 || 6.6;
	svg.removeChild(ruler);
	const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\ud800-\udfff]/;

	function label(text, width) {
		const room = Math.floor((width - 6) / cell);
		let used = 0, cut = "";
		if (room < 3)
			return "";
		for (const c of text) {
			used += wide.test(c) ? 2 : 1;
			if (used > room)
				return cut + "\u2026";
			if (used < room)
				cut += c;
		}
		return text;
	}

	const note = id("note"), foot = id("foot");
	let boxes = null, at = 0, term = "";
	const hit = i => term !== "" && name(i).toLowerCase().includes(term);

	function draw_box(i, x, width, inside) {
		const y = TOP + depth[i] * ROW, g = add(boxes, "g", {"class": "b", "data-i": i});
		add(g, "title", {}).textContent = full(i);
		const rect = add(g, "rect",
			{x: x, y: y, width: width, height: ROW - 1, fill: colours[raw[4 * i + 2]]});
		add(g, "text", {x: x + 3, y: y + 12}).textContent = label(name(i), width);
		if (!inside)
			g.style.opacity = 0.6;
		if (hit(i))
			g.classList.add("hit");
	}

	// What is below z, z as wide as everything, and what called it.
	function draw(z) {
		const above = new Set(), inside = new Uint8Array(n);
		let deepest = 0, narrow = 0;
		for (let i = z; i > 0; i = parent[i])
			above.add(parent[i]);
		svg.querySelectorAll("g.b").forEach(g => g.remove());
		if (boxes)
			boxes.remove();
		boxes = document.createElementNS("http://www.w3.org/2000/svg", "g");
		at = z;
		for (let i = 0; i < n; i++) {
			inside[i] = i === z || (i > 0 && inside[parent[i]]) ? 1 : 0;
			const x = inside[i] ? (left[i] - left[z]) / share[z] * WIDTH : 0;
			const width = inside[i] ? share[i] / share[z] * WIDTH : WIDTH;
			if (!inside[i] && !above.has(i))
				continue;
			if (width < LEAST) {
				narrow++;
				continue;
			}
			deepest = Math.max(deepest, depth[i]);
			draw_box(i, x, width, inside[i]);
		}
		svg.appendChild(boxes);
		const height = TOP + (deepest + 1) * ROW + 24;
		svg.setAttribute("height", height);
		svg.setAttribute("viewBox", "0 0 " + WIDTH + " " + height);
		foot.setAttribute("y", height - 8);
		foot.textContent = narrow ? narrow + " boxes are too narrow here: zoom in to see them" : "";
	}

	// What is below a hit counts with it.
	function search(text) {
		const covered = new Uint8Array(n);
		let found = 0, sum = 0;
		term = text.toLowerCase();
		for (let i = 0; i < n; i++) {
			const is_hit = hit(i), below = i > 0 && covered[parent[i]];
			covered[i] = is_hit || below ? 1 : 0;
			found += is_hit ? 1 : 0;
			sum += is_hit && !below ? share[i] : 0;
		}
		note.textContent = term ? found + " found, " + (100 * sum).toFixed(1) + " %" : "";
		draw(at);
	}

	function ask() {
		const text = prompt("Search (nothing: end the search)", term);
		if (text !== null)
			search(text);
	}

	function box_of(event) {
		const g = event.target.closest("g.b");
		return g ? +g.getAttribute("data-i") : -1;
	}

	svg.addEventListener("click", event => {
		const i = box_of(event);
		if (i >= 0)
			draw(i);
	});
	svg.addEventListener("mouseover", event => {
		const i = box_of(event);
		if (!term)
			note.textContent = i < 0 ? "" : full(i);
	});
	id("find").addEventListener("click", ask);
	id("all").addEventListener("click", () => draw(0));
	document.addEventListener("keydown", event => {
		if (event.key === "/") {
			event.preventDefault();
			ask();
		}
		if (event.key === "Escape") {
			at = 0;
			search("");
		}
	});
	draw(0);
})();
